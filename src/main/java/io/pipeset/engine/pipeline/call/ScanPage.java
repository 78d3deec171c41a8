package io.pipeset.engine.pipeline.call;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.KeyScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.StreamScanCursor;
import io.pipeset.engine.pipeline.call.ScanPosition.Standing;
import org.jspecify.annotations.Nullable;

/**
 * The keys of one answer to SCAN, taken over one by one as the driver reads them, so that
 * an answer that is too large is not kept whole.
 */
public final class ScanPage {

	/** The memory of a key beside its bytes: the array, and the reference to it. */
	private static final int KEY_BYTES = 24;

	private final List<byte[]> keys = new ArrayList<>();

	private final long maxBytes;

	private final boolean restarted;

	private long bytes;

	private ScanPosition next = ScanPosition.START;

	private ScanPage(long maxBytes, boolean restarted) {
		this.maxBytes = maxBytes;
		this.restarted = restarted;
	}

	/**
	 * Asks for some keys.
	 * @param connection an open connection without commands on their way
	 * @param life the {@code run_id} of the server; {@code null} if it is not known
	 * @param place the place from which to go on, if it means anything to the server
	 * @param maxBytes the memory that the keys may take
	 * @return the keys, the first ones where the place means nothing
	 * @throws RedisCallException if Redis refuses the call or does not answer
	 */
	static ScanPage ask(CallConnection connection, @Nullable String life, ScanPosition place, KeyScanArgs arguments,
			long maxBytes) {
		long firstLentNanos = ConnectionMemory.of(connection.connection()).firstLentNanos();
		boolean goesOn = place.at(life, false, firstLentNanos) == Standing.HOLDS;
		ScanPosition from = (goesOn) ? place : ScanPosition.START;
		ScanPage page = new ScanPage(maxBytes, !goesOn);
		long asked = System.nanoTime();
		StreamScanCursor answer = connection
			.call((commands) -> commands.scan(page::add, ScanCursor.of(from.cursor()), arguments));
		page.next = from.next(answer.getCursor(), life, asked);
		return page;
	}

	private void add(byte[] key) {
		this.bytes += key.length + KEY_BYTES;
		if (isTooLarge()) {
			this.keys.clear();
		}
		else {
			this.keys.add(key);
		}
	}

	/**
	 * The keys.
	 * @return them in the server's order; none if they are too large
	 */
	public List<byte[]> keys() {
		return this.keys;
	}

	/**
	 * The memory of the keys.
	 * @return bytes, those that were not kept included
	 */
	public long bytes() {
		return this.bytes;
	}

	/**
	 * Whether the keys were not kept, because they take more memory than they may.
	 * @return {@code true} where the same place has to be asked for fewer keys
	 */
	public boolean isTooLarge() {
		return this.bytes > this.maxBytes;
	}

	/** The place from which SCAN goes on. */
	public ScanPosition next() {
		return this.next;
	}

	/**
	 * Whether the place asked for had lost its meaning, as the server has begun another
	 * life or may have: these keys are the first ones.
	 */
	public boolean isRestarted() {
		return this.restarted;
	}

}
