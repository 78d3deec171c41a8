package io.pipeset.engine.pipeline.call;

/**
 * The facts that the service has learned about one server and its user there. Each is
 * asked for when it is first needed, and kept until the server contradicts it.
 */
public final class ServerFacts {

	private final RedisCalls calls;

	/** Whether the server has said yes. */
	private volatile boolean transactions;

	public ServerFacts(RedisCalls calls) {
		this.calls = calls;
	}

	/**
	 * Finds out whether the service's user may run transactions. If MULTI is refused, the
	 * commands behind it in a pipeline run by themselves, so a job has to know before.
	 * @throws RedisCallException if the server refuses transactions or does not answer
	 */
	public void requireTransactions() {
		if (!this.transactions) {
			checkTransactions();
		}
	}

	/**
	 * Finds out whether the service's user may run transactions now, even if it was
	 * known.
	 * @throws RedisCallException if the server refuses transactions or does not answer
	 */
	public void checkTransactions() {
		this.transactions = false;
		this.calls.emptyTransaction();
		this.transactions = true;
	}

	/** Takes note that the server has refused a transaction. */
	public void transactionsWereRefused() {
		this.transactions = false;
	}

}
