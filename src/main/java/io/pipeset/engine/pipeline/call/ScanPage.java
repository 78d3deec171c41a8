package io.pipeset.engine.pipeline.call;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.KeyScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.StreamScanCursor;

/**
 * The keys of one SCAN reply. Lettuce passes the keys on one by one, so that a reply that
 * is too large is never in memory as a whole.
 */
public final class ScanPage {

	/**
	 * The memory of a key, in bytes, in addition to its name: the array header, and the
	 * reference to the array.
	 */
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
	 * Queries one page of keys.
	 * @param connection an open connection without commands in flight
	 * @param position where to continue, if the position is still valid
	 * @param maxBytes the maximum memory of the keys
	 * @return the keys; the first page if the position is no longer valid
	 * @throws RedisCallException if Redis refuses the call or does not answer
	 */
	static ScanPage query(CallConnection connection, ScanPosition position, KeyScanArgs arguments, long maxBytes) {
		String runId = ClientIdentity.serverRunId(connection);
		long firstLentNanos = ConnectionMemory.of(connection.connection()).firstLentNanos();
		boolean isValid = position.holds(runId, firstLentNanos);
		ScanPosition from = (isValid) ? position : ScanPosition.START;
		ScanPage page = new ScanPage(maxBytes, !isValid);
		long sentNanos = System.nanoTime();
		StreamScanCursor reply = connection
			.call((commands) -> commands.scan(page::add, ScanCursor.of(from.cursor()), arguments));
		page.next = from.next(reply.getCursor(), runId, sentNanos);
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
	 * @return the keys in the server's order; none if they are too large
	 */
	public List<byte[]> keys() {
		return this.keys;
	}

	/**
	 * The memory of the keys.
	 * @return bytes, including keys that were dropped
	 */
	public long bytes() {
		return this.bytes;
	}

	/**
	 * Whether the keys were dropped because they need more memory than allowed.
	 * @return {@code true} if the same position must be queried again for fewer keys
	 */
	public boolean isTooLarge() {
		return this.bytes > this.maxBytes;
	}

	/** The position where the scan continues. */
	public ScanPosition next() {
		return this.next;
	}

	/**
	 * Whether the scan restarted because the server has restarted or may have. These keys
	 * are then the first ones.
	 */
	public boolean isRestarted() {
		return this.restarted;
	}

}
