package io.pipeset.engine.pipeline;

import java.util.Arrays;

import io.pipeset.engine.pipeline.call.ServerVersion;
import org.jspecify.annotations.Nullable;

/**
 * Servers, by whether several SETs cost them less when they are coalesced.
 * docs/benchmarks/gains.txt has the figures, and the benchmark case {@code gains}
 * measures them again. The first constant that matches a server applies. All other
 * coalesced commands are cheaper on every server.
 */
enum MeasuredServer {

	/** Measured with 9.1.2. */
	VALKEY_9_1(true, 9, 1, true, true),

	/** Measured with 8.1.1, which has no MSETEX. */
	VALKEY(true, 0, 0, true, false),

	/**
	 * Measured with 8.6.3. This version reads ahead in a pipeline (its setting
	 * {@code lookahead}), so a single SET costs no more than one in an MSET. MSETEX gains
	 * nothing if keys are overwritten.
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

	/**
	 * The constant of a server; {@link #REDIS} if the server does not report its version.
	 */
	static MeasuredServer of(@Nullable ServerVersion version) {
		return Arrays.stream(values())
			.filter((server) -> version != null && server.valkey == version.valkey()
					&& version.isAtLeast(server.major, server.minor))
			.findFirst()
			.orElse(REDIS);
	}

	/** Whether SETs without options cost less as one MSET. */
	boolean gainsByMset() {
		return this.mset;
	}

	/** Whether SETs with the same expiry cost less as one MSETEX. */
	boolean gainsByMsetex() {
		return this.msetex;
	}

}
