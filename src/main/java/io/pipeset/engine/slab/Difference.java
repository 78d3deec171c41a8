package io.pipeset.engine.slab;

import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Encoding;
import org.jspecify.annotations.Nullable;

/** A record that differs from what Redis has. */
final class Difference {

	final long index;

	final long line;

	final @Nullable String id;

	final Operation operation;

	final Operation sentAs;

	final Encoding encoding;

	/** The command of the record; {@code null} if there was no memory to keep it. */
	byte @Nullable [] resp;

	/** The beginning of what Redis has; {@code null} for nothing. */
	byte @Nullable [] found;

	/** Whether the key is not there. */
	boolean missing;

	/** How many parts it has. */
	int allParts;

	/** How many of its parts differ, and are not superseded. */
	int parts;

	Difference(CommandTable table, int command) {
		this.index = table.index(command);
		this.line = table.line(command);
		this.id = table.id(command);
		this.operation = table.operation(command);
		this.sentAs = table.sentAs(command);
		this.encoding = table.encoding(command);
	}

	/** The memory that is kept for it beyond its parts, in bytes. */
	int keptBytes() {
		return ((this.resp != null) ? this.resp.length : 0) + ((this.found != null) ? this.found.length : 0);
	}

}
