package io.pipeset.input;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Iterator;

import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.engine.pipeline.call.ScanPage;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/** The records of a sweep: one for each key, in the order of the SCAN replies. */
public final class SweptRecords implements RecordReader, AutoCloseable {

	private final Sweep sweep;

	private final KeyPages pages;

	private final byte @Nullable [] ttl;

	private final byte[][] options;

	private Iterator<byte[]> keys = Collections.emptyIterator();

	/** The most records that are still to be read. */
	private long left;

	/**
	 * Prepares the records; the scan starts when the first one is read.
	 * @param lanes borrow the records read so far while this waits for keys
	 * @param memory holds the pages of keys
	 */
	public SweptRecords(Sweep sweep, Lanes lanes, LaneContext job, MemoryReservation memory) {
		this.sweep = sweep;
		this.pages = new KeyPages(sweep, lanes, job, memory);
		Long ttl = sweep.ttl();
		this.ttl = (ttl != null) ? ttl.toString().getBytes(StandardCharsets.US_ASCII) : null;
		this.options = sweep.options()
			.stream()
			.map((option) -> option.getBytes(StandardCharsets.UTF_8))
			.toArray(byte[][]::new);
		Long limit = sweep.limit();
		this.left = (limit != null) ? limit : Long.MAX_VALUE;
	}

	@Override
	public boolean read(Record record) throws IOException {
		byte[] key = (this.left > 0) ? nextKey() : null;
		if (key == null) {
			return false;
		}
		this.left--;
		record.begin(0);
		record.operation(this.sweep.operation());
		record.argument(key, 0, key.length);
		if (this.ttl != null) {
			record.ttl(this.ttl, 0, this.ttl.length);
			record.ttlArgument();
		}
		for (byte[] option : this.options) {
			record.argument(option, 0, option.length);
		}
		record.check();
		if (this.sweep.countsReplies()) {
			record.countReply();
		}
		return true;
	}

	/** The next key that is a record; {@code null} at the end. */
	private byte @Nullable [] nextKey() throws IOException {
		while (true) {
			while (this.keys.hasNext()) {
				byte[] key = this.keys.next();
				if (this.sweep.allows(key) && this.pages.isWanted(key) && this.sweep.wants(key)) {
					return key;
				}
			}
			ScanPage page = this.pages.next(this.left);
			if (page == null) {
				return null;
			}
			this.keys = page.keys().iterator();
		}
	}

	/** Ends the scan, and releases the memory of its keys. */
	@Override
	public void close() {
		this.pages.close();
	}

}
