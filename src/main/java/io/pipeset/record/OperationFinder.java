package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** Finds operations by their names in bodies and settings. */
public interface OperationFinder {

	/** Finds the operations of the table alone. */
	OperationFinder TABLE = Operation::find;

	/** The names of the operations of the table. */
	List<String> TABLE_NAMES = Operation.values().stream().map(Operation::toString).toList();

	/**
	 * Finds an operation by its name in any case.
	 * @return the operation, or {@code null} if there is none of this name
	 */
	@Nullable Operation find(byte[] bytes, int offset, int length);

	/** The names of all operations that are known now, for messages. */
	default Collection<String> names() {
		return TABLE_NAMES;
	}

	/** Why there are no others, to follow a message; empty if that is as usual. */
	default String limits() {
		return "";
	}

	/**
	 * Finds an operation by its name in any case.
	 * @return the operation, or {@code null} if there is none of this name
	 */
	default @Nullable Operation find(String name) {
		byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
		return find(bytes, 0, bytes.length);
	}

}
