package io.pipeset.job;

import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.pipeset.job.input.BodyLimitException;
import io.pipeset.job.spool.SpoolException;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport.Input;
import org.jspecify.annotations.Nullable;

/**
 * How far a job has come in its input, and how the input ended. The reading thread writes
 * it; any thread may read how far the job has come.
 */
public final class InputProgress {

	/**
	 * Written for every record, by one thread alone: an ordered store is enough for the
	 * others, and costs no fence.
	 */
	private final AtomicLong read = new AtomicLong();

	private volatile long unread;

	private volatile boolean complete;

	private Ending ending = Ending.COMPLETED;

	private volatile @Nullable Long byteOffset;

	/** The records that were read. */
	public long read() {
		return this.read.getAcquire();
	}

	/** A record was read. */
	public void next() {
		this.read.setRelease(this.read.getPlain() + 1);
	}

	/** So many records count as read, as an earlier run of the job has read them. */
	public void skipTo(long records) {
		this.read.setRelease(records);
	}

	/** The record read last does not count: the job ends before it. */
	public void takeBack() {
		this.read.setRelease(this.read.getPlain() - 1);
	}

	/** The records that were to be generated and were not, once the input is left. */
	long unread() {
		return this.unread;
	}

	/** The records that were read, and those that were to be generated and were not. */
	public long received() {
		return read() + this.unread;
	}

	/**
	 * Takes note of generated records that the job did not come to.
	 * @param generated how many there are, or 0 for an upload
	 * @return how many were not read
	 */
	public long leaveOut(long generated) {
		this.unread = Math.max(0, generated - read());
		return this.unread;
	}

	/** The input was read to its end. */
	public void complete() {
		this.complete = true;
	}

	public boolean isComplete() {
		return this.complete;
	}

	public Ending ending() {
		return this.ending;
	}

	/** The part of a report that tells how far the job has come. */
	Input input(boolean complete, long read) {
		return new Input(complete, (complete) ? null : read, this.byteOffset);
	}

	public void countMismatch(long declared, String found) {
		this.ending = new Ending(Cause.COUNT_MISMATCH,
				"The path declares " + declared + " records, and the body has " + found);
	}

	/**
	 * No further record can be told from the bytes.
	 * @param noun the name of the bytes that were read
	 */
	public void malformed(MalformedBodyException ex, String noun) {
		this.byteOffset = ex.byteOffset();
		this.ending = new Ending(Cause.MALFORMED_BODY, "At byte " + ex.byteOffset() + " of the "
				+ ((ex.isCompressed()) ? "compressed body" : noun) + ": " + ex.getMessage());
	}

	public void tooLarge(BodyLimitException ex) {
		this.ending = new Ending(Cause.LIMIT, String.valueOf(ex.getMessage()));
	}

	public void noRoom(MemoryLimitException ex) {
		this.ending = new Ending(Cause.LIMIT, "Record " + read() + " cannot be read: " + ex.getMessage());
	}

	public void stalled(Duration idleTimeout) {
		this.ending = new Ending(Cause.STALLED, "Nothing of the body came for " + DurationText.of(idleTimeout)
				+ " (pipeset.limits.body-idle-timeout); " + read() + " records had been read, and ran");
	}

	public void unreadable(SpoolException ex) {
		this.ending = new Ending(Cause.INTERNAL_SERVER_ERROR,
				ex.getMessage() + "; " + read() + " records had been read, and ran");
	}

	public void brokeOff(IOException ex) {
		this.ending = new Ending(Cause.CANCELLED, "The caller went away during its upload"
				+ ((ex instanceof EOFException || ex.getMessage() == null) ? "" : ": " + ex.getMessage()));
	}

}
