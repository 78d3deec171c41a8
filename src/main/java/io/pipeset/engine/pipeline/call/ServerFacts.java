package io.pipeset.engine.pipeline.call;

/**
 * Facts that the service has learned about one server and its user there. A fact is
 * queried when it is first needed, and kept until the server contradicts it.
 */
public final class ServerFacts {

	private final RedisCalls calls;

	/** Whether the server is known to permit transactions. */
	private volatile boolean transactions;

	public ServerFacts(RedisCalls calls) {
		this.calls = calls;
	}

	/**
	 * Ensures that the service's user may run transactions. A job must know this before
	 * it sends records: if Redis refuses MULTI in a pipeline, it runs the next commands
	 * without a transaction.
	 * @throws RedisCallException if the server refuses transactions or does not answer
	 */
	public void requireTransactions() {
		if (!this.transactions) {
			checkTransactions();
		}
	}

	/**
	 * Ensures the same by a new query, even if the answer is known.
	 * @throws RedisCallException if the server refuses transactions or does not answer
	 */
	public void checkTransactions() {
		this.transactions = false;
		this.calls.emptyTransaction();
		this.transactions = true;
	}

	/** Records that the server has refused a transaction. */
	public void transactionsWereRefused() {
		this.transactions = false;
	}

}
