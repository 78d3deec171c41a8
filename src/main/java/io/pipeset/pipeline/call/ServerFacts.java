package io.pipeset.pipeline.call;

/**
 * The facts that the service has learned about one server and its user there. Each is
 * asked for when it is first needed, and kept until the server contradicts it.
 */
public final class ServerFacts {

	private final RedisCalls calls;

	private final MasterWatch watch;

	/** How many failovers had been seen when a server said yes; -1 if none has. */
	private volatile int transactions = -1;

	public ServerFacts(RedisCalls calls, MasterWatch watch) {
		this.calls = calls;
		this.watch = watch;
	}

	/**
	 * Finds out whether the service's user may run transactions. If MULTI is refused, the
	 * commands behind it in a pipeline run by themselves, so a job has to know before.
	 * @throws RedisCallException if the server refuses transactions or does not answer
	 */
	public void requireTransactions() {
		if (this.transactions != this.watch.switches()) {
			checkTransactions();
		}
	}

	/**
	 * Finds out whether the service's user may run transactions now, even if it was
	 * known.
	 * @throws RedisCallException if the server refuses transactions or does not answer
	 */
	public void checkTransactions() {
		int switches = this.watch.switches();
		this.transactions = -1;
		this.calls.emptyTransaction();
		this.transactions = switches;
	}

	/** Takes note that the server has refused a transaction. */
	public void transactionsWereRefused() {
		this.transactions = -1;
	}

}
