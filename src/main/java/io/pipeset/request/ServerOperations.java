package io.pipeset.request;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Locale;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.record.Operation;
import io.pipeset.record.OperationFinder;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/** The operations of the table, and those that the server of the data describes. */
@Component
public class ServerOperations implements OperationFinder {

	/** The longest name that is looked up, in bytes. */
	private static final int MOST_NAME_BYTES = 64;

	private final RedisNodes nodes;

	private final boolean any;

	ServerOperations(RedisNodes nodes, OperationProperties properties) {
		this.nodes = nodes;
		this.any = properties.any();
	}

	/**
	 * Finds an operation by its name in any case.
	 * @return the operation; {@code null} if neither the table nor the server has one of
	 * this name that records may have
	 * @throws RedisCallException if the server is not known yet and cannot be asked
	 */
	@Override
	public @Nullable Operation find(byte[] bytes, int offset, int length) {
		Operation row = Operation.find(bytes, offset, length);
		if (row != null || !this.any || length == 0 || length > MOST_NAME_BYTES) {
			return row;
		}
		String name = new String(bytes, offset, length, StandardCharsets.US_ASCII).toUpperCase(Locale.ROOT);
		return master().facts().describe(name);
	}

	/** The names in the table, and those that the server has described so far. */
	@Override
	public Collection<String> names() {
		Collection<String> names = new ArrayList<>(OperationFinder.super.names());
		if (this.any) {
			names.addAll(master().facts().describedNames());
		}
		return names;
	}

	@Override
	public String limits() {
		return (this.any && !master().facts().describes())
				? ". Redis refuses COMMAND, so that it describes no others: allow +command" : "";
	}

	private RedisNode master() {
		try {
			return this.nodes.masters().get(0);
		}
		catch (NoConnectionException ex) {
			throw RedisCallException.unreachable(ex);
		}
	}

}
