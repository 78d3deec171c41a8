package io.pipeset.engine.pipeline.call;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.pipeset.record.Operation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Facts that the service has learned about one server and its user there. A fact is
 * queried when it is first needed, and kept until the server contradicts it.
 */
public final class ServerFacts {

	private final RedisCalls calls;

	/** How long an answer of COMMAND is believed if it does not have a name. */
	private static final long RETRY_NANOS = TimeUnit.MINUTES.toNanos(1);

	private static final Logger logger = LoggerFactory.getLogger(ServerFacts.class);

	private volatile @Nullable CommandDescriptions commands;

	private volatile long commandsNanos;

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

	/**
	 * Finds an operation that the server describes. A module may have been loaded since
	 * the server was asked, so it is asked once more for a name that it did not have.
	 * @param name its name in upper case
	 * @return the operation; {@code null} if the server has none of that name that
	 * records may have, or does not tell
	 * @throws RedisCallException if the server does not answer
	 */
	public @Nullable Operation describe(String name) {
		CommandDescriptions known = this.commands;
		Operation found = (known != null) ? known.find(name) : null;
		if (found == null && (known == null || System.nanoTime() - this.commandsNanos > RETRY_NANOS)) {
			found = ask().find(name);
		}
		return found;
	}

	/** Whether the server describes its commands, or was not asked yet. */
	public boolean describes() {
		return this.commands != CommandDescriptions.NONE;
	}

	/** The names of the operations that the server has described so far. */
	public Collection<String> describedNames() {
		CommandDescriptions known = this.commands;
		return (known != null) ? known.names() : List.of();
	}

	private CommandDescriptions ask() {
		CommandDescriptions asked;
		try {
			asked = CommandDescriptions.of(this.calls.commands());
		}
		catch (RedisCallException ex) {
			if (ex.code() == null || ex.isTransient()) {
				throw ex;
			}
			logger.warn("Redis does not describe its commands ({}), so records may have the operations of the table"
					+ " alone: the service's user needs +command for others", ex.getMessage());
			asked = CommandDescriptions.NONE;
		}
		this.commandsNanos = System.nanoTime();
		this.commands = asked;
		return asked;
	}

	/** Records that the server has refused a transaction. */
	public void transactionsWereRefused() {
		this.transactions = false;
	}

}
