package io.pipeset.keep;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;

import io.pipeset.memory.MemoryShare;
import org.jspecify.annotations.Nullable;

/**
 * A file with a number of two bytes for each record; 0 if the record has none. The chunks
 * used last are in memory. They are written in the order of the records, so that the file
 * has no gaps even if its process is killed.
 */
final class OutcomeFile {

	private static final int CHUNK_RECORDS = 32 << 10;

	private static final int CHUNK_BYTES = 2 * CHUNK_RECORDS;

	/** A few chunks suffice, because lanes finish records nearly in order. */
	private static final int MAX_CHUNKS = 8;

	private final SpoolFile file;

	/** The chunks in memory by their numbers, the least recently used first. */
	private final LinkedHashMap<Long, Chunk> chunks = new LinkedHashMap<>(MAX_CHUNKS * 2, 0.75f, true);

	private @Nullable Chunk last;

	OutcomeFile(SpoolFile file) {
		this.file = file;
	}

	/** The number of records up to the last one in the file. */
	long records() {
		return this.file.bytes() / 2;
	}

	/**
	 * Sets the number of a record.
	 * @param memory the memory for chunks
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	void set(long index, int number, MemoryShare memory) throws SpoolException {
		chunk(index / CHUNK_RECORDS, memory).set((int) (index % CHUNK_RECORDS), (short) number);
	}

	/** Writes changed chunks to the file. */
	void write() throws SpoolException {
		if (this.chunks.size() < 2) {
			for (Chunk chunk : this.chunks.values()) {
				chunk.write();
			}
			return;
		}
		for (Chunk chunk : this.chunks.values().stream().sorted(Comparator.comparing((one) -> one.number)).toList()) {
			chunk.write();
		}
	}

	/** Drops the chunks in memory, and closes the file. */
	void drop() {
		this.chunks.clear();
		this.last = null;
		this.file.closeChannel();
	}

	/** Reads the numbers from the first record on. */
	Numbers read() {
		return new Numbers();
	}

	/** Removes the file. */
	void close() {
		this.file.close();
	}

	private Chunk chunk(long number, MemoryShare memory) throws SpoolException {
		if (this.last != null && this.last.number == number) {
			return this.last;
		}
		Chunk chunk = this.chunks.get(number);
		if (chunk == null) {
			// Fewer chunks if memory is scarce, but at least one.
			if (this.chunks.size() == MAX_CHUNKS || (!this.chunks.isEmpty() && !memory.tryTakeForReport(CHUNK_BYTES))) {
				Chunk oldest = this.chunks.values().iterator().next();
				write();
				this.chunks.remove(oldest.number);
			}
			chunk = new Chunk(number);
			this.chunks.put(number, chunk);
		}
		this.last = chunk;
		return chunk;
	}

	/** The numbers of consecutive records. */
	private final class Chunk {

		private final long number;

		private final ByteBuffer bytes = ByteBuffer.allocate(CHUNK_BYTES);

		/** The range of bytes that is not written yet. */
		private int from = Integer.MAX_VALUE;

		private int to;

		private Chunk(long number) throws SpoolException {
			this.number = number;
			OutcomeFile.this.file.readAt(start(), this.bytes);
		}

		private void set(int record, short value) {
			this.bytes.putShort(2 * record, value);
			this.from = Math.min(this.from, 2 * record);
			this.to = Math.max(this.to, 2 * record + 2);
		}

		private void write() throws SpoolException {
			if (this.from < this.to) {
				OutcomeFile.this.file.writeAt(start() + this.from,
						this.bytes.duplicate().position(this.from).limit(this.to));
				this.from = Integer.MAX_VALUE;
				this.to = 0;
			}
		}

		private long start() {
			return CHUNK_BYTES * this.number;
		}

	}

	/** Reads numbers in order, while those of later records may be set. */
	final class Numbers {

		private final ByteBuffer bytes = ByteBuffer.allocate(CHUNK_BYTES).limit(0);

		private long position;

		/** Goes to a record. */
		void skipTo(long index) {
			this.position = 2 * index;
			this.bytes.limit(0);
		}

		/**
		 * The number of the next record.
		 * @throws IOException if the file cannot be read
		 */
		int next() throws IOException {
			if (!this.bytes.hasRemaining()) {
				// The file may end within the chunk: the rest is 0.
				Arrays.fill(this.bytes.array(), (byte) 0);
				this.bytes.clear();
				OutcomeFile.this.file.readAt(this.position, this.bytes);
				this.bytes.clear();
				this.position += this.bytes.capacity();
			}
			return this.bytes.getShort() & 0xffff;
		}

	}

}
