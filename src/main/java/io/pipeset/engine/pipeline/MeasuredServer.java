package io.pipeset.engine.pipeline;

import java.util.Arrays;

import io.pipeset.engine.pipeline.call.ServerVersion;
import org.jspecify.annotations.Nullable;

/**
 * The servers, by whether SETs of several keys cost them less as one command than by
 * themselves. docs/coalescing.md has the figures, and the benchmark case {@code gains}
 * takes them anew. The first row that fits a server is its own; the other common commands
 * pay on all of them.
 */
enum MeasuredServer {

	/** Measured with 9.1.2. */
	VALKEY_9_1(true, 9, 1, true, true),

	/** Measured with 8.1.1, which has no MSETEX. */
	VALKEY(true, 0, 0, true, false),

	/**
	 * Measured with 8.6.3: it reads ahead in a pipeline (its setting {@code lookahead}),
	 * and so a SET by itself costs it no more than one in an MSET. Its MSETEX gains
	 * nothing where keys are overwritten.
	 */
	REDIS_8_4(false, 8, 4, false, false),

	/** Measured with 7.0.15 and 8.0.6, which have no MSETEX. */
	REDIS(false, 0, 0, true, false);

	private final boolean valkey;

	private final int major;

	private final int minor;

	private final boolean mset;

	private final boolean msetex;

	MeasuredServer(boolean valkey, int major, int minor, boolean mset, boolean msetex) {
		this.valkey = valkey;
		this.major = major;
		this.minor = minor;
		this.mset = mset;
		this.msetex = msetex;
	}

	/** The row of a server; that of Redis for one that does not tell what it is. */
	static MeasuredServer of(@Nullable ServerVersion version) {
		return Arrays.stream(values())
			.filter((row) -> version != null && row.valkey == version.valkey()
					&& version.isAtLeast(row.major, row.minor))
			.findFirst()
			.orElse(REDIS);
	}

	/** Whether SETs without options cost less as MSET. */
	boolean gainsByMset() {
		return this.mset;
	}

	/** Whether SETs of one expiry cost less as MSETEX. */
	boolean gainsByMsetex() {
		return this.msetex;
	}

}
