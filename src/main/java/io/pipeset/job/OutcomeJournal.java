package io.pipeset.job;

import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;
import io.pipeset.report.OutcomeLog;
import io.pipeset.slab.Loss;
import io.pipeset.spool.SpoolException;
import io.pipeset.spool.SpoolFile;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The outcome of each record of a job in a file, as a number of two bytes at twice its
 * index: 0 for a record that did not run, 1 for one that ran, and above it the place of a
 * failure in a list. Equal failures have one place. The list is in memory while the job
 * runs, and in a file of its own from then on.
 */
final class OutcomeJournal implements OutcomeLog, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(OutcomeJournal.class);

	private static final int CHUNK_RECORDS = 32 << 10;

	private static final int CHUNK_BYTES = 2 * CHUNK_RECORDS;

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

	private static final JsonMapper mapper = JsonMapper.builder().build();

	/** A failure, its place in both collections, and its text's header. */
	private static final int ENTRY_BYTES = 256;

	private static final int BUFFER_BYTES = 8 << 10;

	private final SpoolFile file;

	private final SpoolFile failuresFile;

	/** The memory of the parts and the failures, until the job ends. */
	private final MemoryShare memory;

	/** The parts of the file in memory, those used last behind the others. */
	private final LinkedHashMap<Long, Chunk> chunks = new LinkedHashMap<>(MOST_CHUNKS * 2, 0.75f, true);

	private @Nullable Chunk last;

	private final List<Entry> failures = new ArrayList<>();

	private final Map<Entry, Integer> places = new HashMap<>();

	private int characters;

	/** The memory that the failures take. */
	private long failureBytes;

	private @Nullable IOException failure;

	/**
	 * Nothing is entered yet.
	 * @param file takes the outcomes
	 * @param failures takes the failures, once the job has ended
	 * @param memory the journal's own, which it closes
	 */
	OutcomeJournal(SpoolFile file, SpoolFile failures, MemoryShare memory) {
		this.file = file;
		this.failuresFile = failures;
		this.memory = memory;
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
	synchronized @Nullable IOException failure() {
		return this.failure;
	}

	/** The job has ended: nothing more is entered. */
	synchronized void ends() {
		flush();
		if (this.failure == null && !this.failures.isEmpty()) {
			try (OutputStream out = new BufferedOutputStream(this.failuresFile.write(), BUFFER_BYTES)) {
				mapper.writeValue(out, this.failures);
			}
			catch (IOException ex) {
				fails(ex);
			}
			catch (JacksonException ex) {
				fails(unwrapped(ex));
			}
		}
		forget();
	}

	private void forget() {
		this.chunks.clear();
		this.last = null;
		this.failures.clear();
		this.places.clear();
		this.memory.close();
	}

	/**
	 * Reads the outcomes in their order, once the job has ended.
	 * @param memory takes the failures
	 */
	Outcomes outcomes(MemoryShare memory) throws IOException {
		if (this.failuresFile.bytes() == 0) {
			return new Outcomes(List.of());
		}
		memory.take(this.failureBytes);
		try (InputStream in = this.failuresFile.open()) {
			return new Outcomes(List.of(mapper.readValue(in, Entry[].class)));
		}
		catch (JacksonException ex) {
			throw unwrapped(ex);
		}
	}

	private static IOException unwrapped(JacksonException ex) {
		return (ex.getCause() instanceof IOException failure) ? failure
				: new EOFException("The list of its failures in the spool is broken");
	}

	/** Forgets all, and removes the files. */
	@Override
	public synchronized void close() {
		forget();
		this.file.close();
		this.failuresFile.close();
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
	private void fails(IOException ex) {
		logger.warn("The outcomes of the records of a job are not kept: {}", ex.getMessage());
		this.failure = ex;
		forget();
	}

	private Chunk chunk(long number) throws SpoolException {
		if (this.last != null && this.last.number == number) {
			return this.last;
		}
		Chunk chunk = this.chunks.get(number);
		if (chunk == null) {
			// Fewer where memory is short, but one at least.
			if (this.chunks.size() == MOST_CHUNKS
					|| (!this.chunks.isEmpty() && !this.memory.tryTakeForReport(CHUNK_BYTES))) {
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
		if (this.failures.size() < MOST_FAILURES && this.characters + length <= MOST_CHARACTERS && claim(entry)) {
			this.characters += length;
			return add(entry);
		}
		Entry coded = withoutMessage(entry, entry.failure.code());
		if (this.places.containsKey(coded) || (this.failures.size() < MOST_FAILURES + MOST_CODES && claim(coded))) {
			return add(coded);
		}
		return add(withoutMessage(entry, "(other)"));
	}

	private static Entry withoutMessage(Entry entry, String code) {
		return new Entry(entry.outcome,
				new Failure(code, "The job has too many messages: this one is not kept", entry.failure.retryable()));
	}

	private boolean claim(Entry entry) {
		long bytes = ENTRY_BYTES + 2L * (entry.failure.code().length() + entry.failure.message().length());
		boolean claimed = this.memory.tryTakeForReport(bytes);
		this.failureBytes += (claimed) ? bytes : 0;
		return claimed;
	}

	private int add(Entry entry) {
		return this.places.computeIfAbsent(entry, (added) -> {
			this.failures.add(added);
			return this.failures.size() - 1;
		});
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

		private final ByteBuffer bytes = ByteBuffer.allocate(CHUNK_BYTES);

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
			return CHUNK_BYTES * this.number;
		}

	}

	/** Reads outcomes, one record after the other. */
	final class Outcomes {

		private final ByteBuffer bytes = ByteBuffer.allocate(CHUNK_BYTES).limit(0);

		private final List<Entry> failures;

		private long position;

		private Outcomes(List<Entry> failures) {
			this.failures = failures;
		}

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
			if (number - FIRST_FAILURE >= this.failures.size()) {
				throw new EOFException("an outcome that nobody has written");
			}
			return this.failures.get(number - FIRST_FAILURE);
		}

	}

}
