package io.pipeset.run;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.function.BooleanSupplier;

import io.pipeset.keep.Spool;
import io.pipeset.keep.SpoolException;
import io.pipeset.keep.SpoolFile;
import io.pipeset.record.GlobPattern;
import io.pipeset.record.Record;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a pattern that a job has written. It keeps a fingerprint of 63 bits for
 * each in a file of the spool, so that its heap memory does not grow with their number.
 * If two keys have the same fingerprint, which is random for each job, both count as
 * written. Only the reading thread of the job uses this, except for {@link #kept()}.
 */
public final class WrittenKeys implements AutoCloseable {

	private static final SecureRandom random = new SecureRandom();

	/** The size of the blocks in which fingerprints are written. */
	private static final int BLOCK_BYTES = 64 << 10;

	/** A mapping has 1 GiB. */
	private static final int PIECE_BITS = 27;

	private final GlobPattern pattern;

	private final Spool spool;

	private final String fileName;

	private final Spool.@Nullable Share share;

	private final MemoryReservation memory;

	private final SipHash hash = new SipHash(random.nextLong(), random.nextLong());

	/** The fingerprints that are not in the file yet; {@code null} before the first. */
	private @Nullable ByteBuffer block;

	private @Nullable SpoolFile file;

	private @Nullable String failure;

	/** {@code null} before they are sorted. */
	private @Nullable MappedLongs sorted;

	private volatile long kept;

	private long reservedBytes;

	/**
	 * Prepares to note keys. There is no file before the first key.
	 * @param pattern the keys that are noted
	 * @param fileName the name of the file
	 * @param share the share of the spool that the file counts for; {@code null} if only
	 * the limit of the spool applies
	 * @param memory reserves 64 KiB, and 312 KiB more while the fingerprints are sorted
	 */
	public WrittenKeys(GlobPattern pattern, Spool spool, String fileName, Spool.@Nullable Share share,
			MemoryReservation memory) {
		this.pattern = pattern;
		this.spool = spool;
		this.fileName = fileName;
		this.share = share;
		this.memory = memory;
	}

	/**
	 * Notes the keys of a record, unless it deletes them. A full spool fails no record:
	 * see {@link #failure()}.
	 * @param record a valid record
	 */
	public void add(Record record) {
		if (this.failure != null || record.operation().deletesKeys()) {
			return;
		}
		for (int i = 0; i < record.keyCount(); i++) {
			int key = record.command().keyPosition(i);
			if (this.pattern.matches(record.source(key), record.offset(key), record.length(key))) {
				add(fingerprint(record.source(key), record.offset(key), record.length(key)));
			}
		}
	}

	private long fingerprint(byte[] source, int offset, int length) {
		return this.hash.hash(source, offset, length) >>> 1;
	}

	private void add(long fingerprint) {
		ByteBuffer block = this.block;
		if (block == null) {
			if (!reserve(BLOCK_BYTES)) {
				return;
			}
			block = ByteBuffer.allocate(BLOCK_BYTES).order(ByteOrder.nativeOrder());
			this.block = block;
		}
		block.putLong(fingerprint);
		if (!block.hasRemaining()) {
			flush(block);
		}
	}

	private void flush(ByteBuffer block) {
		try {
			if (this.file == null) {
				this.file = this.spool.create(this.fileName, this.share);
			}
			this.file.writeAt(this.file.bytes(), block.flip());
		}
		catch (SpoolException ex) {
			fail(ex);
		}
		block.clear();
	}

	private void fail(Exception ex) {
		fail(String.valueOf(ex.getMessage()));
	}

	/**
	 * Gives up, because a key cannot be noted.
	 * @param reason a sentence without its full stop
	 */
	public void fail(String reason) {
		this.failure = reason;
		close();
	}

	private boolean reserve(long bytes) {
		try {
			this.memory.reserve(bytes);
			this.reservedBytes += bytes;
			return true;
		}
		catch (MemoryLimitException ex) {
			fail(ex);
			return false;
		}
	}

	/** Whether no key was noted. */
	public boolean isEmpty() {
		return this.block == null && this.failure == null;
	}

	/**
	 * Why not all keys could be noted.
	 * @return a sentence without its full stop; {@code null} if all were
	 */
	public @Nullable String failure() {
		return this.failure;
	}

	/**
	 * Sorts the fingerprints, so that keys can be found. No key can be noted afterwards.
	 * @param stopped whether the keys are not needed any more
	 * @return {@code false} if that is not possible: see {@link #failure()}
	 */
	public boolean sort(BooleanSupplier stopped) {
		if (this.block != null && this.block.position() > 0) {
			flush(this.block);
		}
		SpoolFile file = this.file;
		if (file == null) {
			return this.failure == null;
		}
		if (!reserve(MappedLongs.SORT_BYTES)) {
			return false;
		}
		try {
			MappedLongs fingerprints = new MappedLongs(file.map(Long.BYTES << PIECE_BITS), PIECE_BITS);
			file.closeChannel();
			fingerprints.sort(stopped);
			this.sorted = fingerprints;
			release(MappedLongs.SORT_BYTES);
			return true;
		}
		catch (SpoolException ex) {
			fail(ex);
			return false;
		}
	}

	/**
	 * Whether a key was noted. Call this after {@link #sort}.
	 * @param key a key that Redis has
	 */
	public boolean contain(byte[] key) {
		MappedLongs fingerprints = this.sorted;
		if (fingerprints == null) {
			// A key of which nothing is known is not removed.
			return true;
		}
		long at = fingerprints.find(fingerprint(key, 0, key.length));
		if (at >= 0 && fingerprints.mark(at)) {
			long before = this.kept;
			this.kept = before + 1;
		}
		return at >= 0;
	}

	/**
	 * How many keys were found so far by {@link #contain}, each counted once. Any thread
	 * may call this.
	 */
	public long kept() {
		return this.kept;
	}

	private void release(long bytes) {
		this.memory.release(bytes);
		this.reservedBytes -= bytes;
	}

	/** Removes the file. */
	@Override
	public void close() {
		this.sorted = null;
		if (this.file != null) {
			try {
				// Frees the disk now; the mapping itself ends with the next collection.
				this.file.truncate(0);
			}
			catch (SpoolException ex) {
				// Then the disk is freed by that collection.
			}
			this.file.close();
			this.file = null;
		}
		release(this.reservedBytes);
		this.block = null;
	}

}
