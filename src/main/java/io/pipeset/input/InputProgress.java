package io.pipeset.input;

import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport.Input;
import io.pipeset.request.BodyLimitException;
import org.jspecify.annotations.Nullable;

/**
 * How many records of its input a job has read, and how the input ended. Only the reading
 * thread writes. All other threads may read all but {@link #ending()}.
 */
public final class InputProgress {

	/**
	 * The records read. Only one thread writes, for every record, so that a release store
	 * is enough, which costs no full fence.
	 */
	private final AtomicLong read = new AtomicLong();

	/** The records that were to be generated but were not. 0 until the input ended. */
	private volatile long unread;

	private volatile boolean complete;

	private Ending ending = Ending.COMPLETED;

	private volatile @Nullable Long byteOffset;

	public long read() {
		return this.read.getAcquire();
	}

	/** Counts a record as read. */
	public void countRead() {
		this.read.setRelease(this.read.getPlain() + 1);
	}

	/** Sets the number of records read, because an earlier run of the job read them. */
	public void setRead(long records) {
		this.read.setRelease(records);
	}

	/** Uncounts the last record read, because the job ended before it. */
	public void uncountLast() {
		this.read.setRelease(this.read.getPlain() - 1);
	}

	/** The records that were to be generated but were not. 0 until the input ended. */
	public long unread() {
		return this.unread;
	}

	/** The records read, plus those that were to be generated but were not. */
	public long received() {
		return read() + this.unread;
	}

	/**
	 * Counts the generated records that the job has not read, at the end of its input.
	 * @param generated how many records the input can generate; 0 for an upload
	 * @return how many of them were not read
	 */
	public long countUnread(long generated) {
		this.unread = Math.max(0, generated - read());
		return this.unread;
	}

	/** Marks the input as read to its end. */
	public void complete() {
		this.complete = true;
	}

	public boolean isComplete() {
		return this.complete;
	}

	public Ending ending() {
		return this.ending;
	}

	/** The part of a report about the input. */
	public Input input(boolean complete, long read) {
		return new Input(complete, (complete) ? null : read, this.byteOffset);
	}

	public void countMismatch(long declared, String found) {
		this.ending = new Ending(Cause.COUNT_MISMATCH,
				"The path declares " + declared + " records, and the body has " + found);
	}

	/**
	 * The bytes after this position cannot be parsed as records.
	 * @param noun what the bytes are, for the message
	 */
	public void malformed(MalformedBodyException ex, String noun) {
		this.byteOffset = ex.byteOffset();
		this.ending = new Ending(Cause.MALFORMED_BODY, "At byte " + ex.byteOffset() + " of the "
				+ ((ex.isCompressed()) ? "compressed body" : noun) + ": " + ex.getMessage());
	}

	public void tooLarge(BodyLimitException ex) {
		this.ending = new Ending(Cause.LIMIT, String.valueOf(ex.getMessage()));
	}

	public void outOfMemory(MemoryLimitException ex) {
		this.ending = new Ending(Cause.LIMIT, "Record " + read() + " cannot be read: " + ex.getMessage());
	}

	public void stalled(Duration idleTimeout) {
		this.ending = new Ending(Cause.STALLED, "Nothing of the body came for " + DurationText.of(idleTimeout)
				+ " (pipeset.limits.body-idle-timeout); " + read() + " records had been read, and ran");
	}

	/** The stored body cannot be read. */
	public void unreadable(IOException ex) {
		this.ending = new Ending(Cause.INTERNAL_SERVER_ERROR,
				ex.getMessage() + "; " + read() + " records had been read, and ran");
	}

	public void sourceFailed(SourceException ex) {
		this.ending = new Ending(Cause.SOURCE_FAILED,
				ex.getMessage() + "; " + read() + " records had been read, and ran");
	}

	public void brokeOff(IOException ex) {
		this.ending = new Ending(Cause.CANCELLED, "The caller went away during its upload"
				+ ((ex instanceof EOFException || ex.getMessage() == null) ? "" : ": " + ex.getMessage()));
	}

}
