package io.pipeset.job;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;
import io.pipeset.report.OutcomeLog;
import io.pipeset.slab.Loss;
import io.pipeset.spool.SpoolException;
import io.pipeset.spool.SpoolFile;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The outcome of each record of a job in a file, as a number of two bytes at twice its
 * index: 0 for a record that did not run, 1 for one that ran, and above it the place of a
 * failure in a list. Equal failures have one place.
 */
final class OutcomeJournal implements OutcomeLog, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(OutcomeJournal.class);

	private static final int CHUNK_RECORDS = 32 << 10;

	/**
	 * Records are entered in the order of their lanes, which is not far from their own.
	 */
	private static final int MOST_CHUNKS = 8;

	private static final short RAN = 1;

	private static final int FIRST_FAILURE = 2;

	private static final int MOST_FAILURES = 10_000;

	private static final int MOST_CHARACTERS = 1 << 20;

	private static final int MOST_CODES = 1000;

	static final Entry NOT_RUN = new Entry(Outcome.UNPROCESSED,
			new Failure(Loss.NOT_SENT, "The job ended before it was sent", true));

	private final SpoolFile file;

	/** The parts of the file in memory, those used last behind the others. */
	private final LinkedHashMap<Long, Chunk> chunks = new LinkedHashMap<>(MOST_CHUNKS * 2, 0.75f, true);

	private @Nullable Chunk last;

	private final List<Entry> failures = new ArrayList<>();

	private final Map<Entry, Integer> places = new HashMap<>();

	private int characters;

	private @Nullable SpoolException failure;

	OutcomeJournal(SpoolFile file) {
		this.file = file;
	}

	@Override
	public synchronized void ran(long index) {
		set(index, RAN);
	}

	@Override
	public synchronized void failed(long index, Outcome outcome, Failure failure) {
		set(index, (short) (FIRST_FAILURE + place(new Entry(outcome, failure))));
	}

	/** Writes what was entered to the file. */
	@Override
	public synchronized void flush() {
		try {
			for (Chunk chunk : this.chunks.values()) {
				chunk.write();
			}
		}
		catch (SpoolException ex) {
			fails(ex);
		}
	}

	/** The reason for which the journal is not whole; {@code null} if it is. */
	synchronized @Nullable SpoolException failure() {
		return this.failure;
	}

	/** The job has ended: nothing more is entered. */
	synchronized void ends() {
		flush();
		this.chunks.clear();
		this.last = null;
	}

	/** Reads the outcomes in their order, once the job has ended. */
	Outcomes outcomes() {
		return new Outcomes();
	}

	@Override
	public void close() {
		this.file.close();
	}

	private void set(long index, short number) {
		if (this.failure != null) {
			return;
		}
		try {
			Chunk chunk = chunk(index / CHUNK_RECORDS);
			chunk.set((int) (index % CHUNK_RECORDS), number);
		}
		catch (SpoolException ex) {
			fails(ex);
		}
	}

	/** The job goes on: only its items are lost. */
	private void fails(SpoolException ex) {
		logger.warn("The outcomes of the records of a job are not kept: {}", ex.getMessage());
		this.failure = ex;
		this.chunks.clear();
		this.last = null;
	}

	private Chunk chunk(long number) throws SpoolException {
		if (this.last != null && this.last.number == number) {
			return this.last;
		}
		Chunk chunk = this.chunks.get(number);
		if (chunk == null) {
			if (this.chunks.size() == MOST_CHUNKS) {
				Chunk oldest = this.chunks.values().iterator().next();
				oldest.write();
				this.chunks.remove(oldest.number);
			}
			chunk = new Chunk(number);
			this.chunks.put(number, chunk);
		}
		this.last = chunk;
		return chunk;
	}

	/** The place of a failure in the list, beyond whose bounds messages are left out. */
	private int place(Entry entry) {
		Integer known = this.places.get(entry);
		if (known != null) {
			return known;
		}
		int length = entry.failure.message().length();
		if (this.failures.size() < MOST_FAILURES && this.characters + length <= MOST_CHARACTERS) {
			return add(entry, length);
		}
		Entry plain = new Entry(entry.outcome,
				new Failure((this.places.size() < MOST_FAILURES + MOST_CODES) ? entry.failure.code() : "(other)",
						"The job has too many messages: this one is not kept", entry.failure.retryable()));
		Integer knownPlain = this.places.get(plain);
		return (knownPlain != null) ? knownPlain : add(plain, 0);
	}

	private int add(Entry entry, int length) {
		this.characters += length;
		this.failures.add(entry);
		this.places.put(entry, this.failures.size() - 1);
		return this.failures.size() - 1;
	}

	/**
	 * What became of a record that did not run as asked.
	 *
	 * @param outcome its outcome
	 * @param failure the reason
	 */
	record Entry(Outcome outcome, Failure failure) {

	}

	/** A part of the file. */
	private final class Chunk {

		private final long number;

		private final ByteBuffer bytes = ByteBuffer.allocate(2 * CHUNK_RECORDS);

		/** The part that is not written yet, in bytes. */
		private int from = Integer.MAX_VALUE;

		private int to;

		private Chunk(long number) throws SpoolException {
			this.number = number;
			OutcomeJournal.this.file.readAt(start(), this.bytes);
		}

		private void set(int record, short value) {
			this.bytes.putShort(2 * record, value);
			this.from = Math.min(this.from, 2 * record);
			this.to = Math.max(this.to, 2 * record + 2);
		}

		private void write() throws SpoolException {
			if (this.from < this.to) {
				OutcomeJournal.this.file.writeAt(start() + this.from,
						this.bytes.duplicate().position(this.from).limit(this.to));
				this.from = Integer.MAX_VALUE;
				this.to = 0;
			}
		}

		private long start() {
			return 2 * CHUNK_RECORDS * this.number;
		}

	}

	/** Reads outcomes, one record after the other. */
	final class Outcomes {

		private final ByteBuffer bytes = ByteBuffer.allocate(2 * CHUNK_RECORDS).limit(0);

		private long position;

		/**
		 * The outcome of the next record.
		 * @return {@code null} if it ran
		 */
		@Nullable Entry next() throws IOException {
			if (!this.bytes.hasRemaining()) {
				// The file ends with the last record that was entered.
				Arrays.fill(this.bytes.array(), (byte) 0);
				this.bytes.clear();
				OutcomeJournal.this.file.readAt(this.position, this.bytes);
				this.bytes.clear();
				this.position += this.bytes.capacity();
			}
			int number = this.bytes.getShort() & 0xffff;
			if (number == RAN) {
				return null;
			}
			if (number == 0) {
				return NOT_RUN;
			}
			synchronized (OutcomeJournal.this) {
				if (number - FIRST_FAILURE >= OutcomeJournal.this.failures.size()) {
					throw new EOFException("an outcome that nobody has written");
				}
				return OutcomeJournal.this.failures.get(number - FIRST_FAILURE);
			}
		}

	}

}
