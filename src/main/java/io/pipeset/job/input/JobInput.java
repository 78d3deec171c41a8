package io.pipeset.job.input;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.function.Consumer;

import io.pipeset.lane.UnknownPops;
import io.pipeset.pop.PopReceipt;
import io.pipeset.pop.Receipts;
import io.pipeset.pop.ReliablePops;
import io.pipeset.record.RecordReader;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.report.Account;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.JobReport.Scan;
import io.pipeset.spool.SpoolFile;
import io.pipeset.sweep.Sweep;
import io.pipeset.sweep.SweptRecords;
import org.jspecify.annotations.Nullable;

/** The source of a job's records. */
public sealed interface JobInput {

	/** The records of a small job at most. */
	int SMALL_RECORDS = 1_000;

	/** The bytes of a small job's body at most. */
	int SMALL_BYTES = 64 << 10;

	/**
	 * Opens the input, has its records read, and closes it.
	 * @param records reads the records, in the calling thread
	 */
	void open(InputContext context, Consumer<RecordReader> records);

	/**
	 * The records that the service makes itself.
	 * @return how many, or 0 for records that a caller uploads
	 */
	default long generated() {
		return 0;
	}

	/**
	 * The records that the caller says there are.
	 * @return how many, or {@code null} if it does not say
	 */
	default @Nullable Long declared() {
		return null;
	}

	/**
	 * The records that there are, made or declared.
	 * @return how many, or {@code null} where nobody knows
	 */
	default @Nullable Long total() {
		return declared();
	}

	/**
	 * Whether there is so little of it that the job will be through in a moment.
	 * @return {@code false} also where nobody knows
	 */
	default boolean isSmall() {
		return generated() > 0 && generated() <= SMALL_RECORDS;
	}

	/**
	 * The part of the input that was read so far; any thread may ask.
	 * @return 0 to 1, or not a number where nobody knows
	 */
	default double share() {
		return Double.NaN;
	}

	/**
	 * The id of the job that reads this input.
	 * @param fresh an id that nobody uses
	 * @return that id, or one made from it
	 */
	default String jobId(String fresh) {
		return fresh;
	}

	/**
	 * Finds out the values of pops whose answers were lost.
	 * @return {@code null} where such pops stay unknown
	 */
	default @Nullable UnknownPops unknownPops() {
		return null;
	}

	/** Adds the settings that only a job with this input has. */
	default void addTo(Map<String, Object> report) {
	}

	/**
	 * The way in which the records were found, if that is worth a word.
	 * @return {@code null} for records that were not looked for
	 */
	default @Nullable Scan scan() {
		return null;
	}

	/**
	 * Hands the receipt for what the job took over to its caller, once all records have
	 * their outcome. May stop the job.
	 * @return {@code null} if there is nothing to acknowledge
	 */
	default @Nullable Receipt handOver(Account account) {
		return null;
	}

	/**
	 * Whether the caller sends the records.
	 * @return {@code false} if the service makes or finds them
	 */
	default boolean isUploaded() {
		return false;
	}

	/** The name of the bytes that records are read from, for messages. */
	default String noun() {
		return "body";
	}

	/** Records that the service makes itself. */
	record Generated(RecordReader records, long generated) implements JobInput {

		@Override
		public void open(InputContext context, Consumer<RecordReader> records) {
			records.accept(this.records);
		}

		@Override
		public Long total() {
			return this.generated;
		}

	}

	/** Records that pop values reliably, with the receipt for these values. */
	final class Popped implements JobInput {

		private final ReliablePops pops;

		private final Receipts receipts;

		/** Made before the first pop. */
		private @Nullable PopReceipt receipt;

		public Popped(ReliablePops pops, Receipts receipts) {
			this.pops = pops;
			this.receipts = receipts;
		}

		@Override
		public void open(InputContext context, Consumer<RecordReader> records) {
			PopReceipt opened = new PopReceipt(this.receipts, context.jobId(), this.pops, context.job().settings(),
					context.job().stop());
			this.receipt = opened;
			opened.open();
			records.accept(opened.moves());
		}

		@Override
		public long generated() {
			return this.pops.count();
		}

		@Override
		public Long total() {
			return this.pops.count();
		}

		@Override
		public String jobId(String fresh) {
			return this.receipts.jobId(fresh, this.pops.keyBytes());
		}

		@Override
		public UnknownPops unknownPops() {
			return (left, settled) -> this.receipt != null && this.receipt.resolve(left, settled);
		}

		@Override
		public void addTo(Map<String, Object> report) {
			this.pops.addTo(report);
		}

		@Override
		public @Nullable Receipt handOver(Account account) {
			return (this.receipt != null) ? this.receipt.handOver(account) : null;
		}

	}

	/** Records for the keys that SCAN finds. */
	record Scanned(Sweep sweep) implements JobInput {

		@Override
		public void open(InputContext context, Consumer<RecordReader> records) {
			try (SweptRecords swept = new SweptRecords(this.sweep, context.lanes(), context.job(), context.memory())) {
				records.accept(swept);
			}
		}

		@Override
		public void addTo(Map<String, Object> report) {
			this.sweep.addTo(report);
		}

		@Override
		public Scan scan() {
			return this.sweep.scan();
		}

	}

	/** Records that a caller uploads. */
	final class Uploaded implements JobInput {

		private static final int DIGEST_BUFFER_BYTES = 64 << 10;

		private final InputStream body;

		private final long length;

		private final boolean gzipped;

		private final RecordFormat format;

		private final @Nullable Long declared;

		private final @Nullable String jobId;

		private final @Nullable SpooledBody spooled;

		/** Takes note of the inflated bytes; {@code null} if nobody asks for them. */
		private @Nullable BodyDigest digest;

		private volatile @Nullable LendingInputStream opened;

		private volatile @Nullable RecordReader reader;

		/**
		 * An upload that has not begun.
		 * @param body the bytes of the records, read once and never held whole
		 * @param length how many bytes there are; -1 if nobody knows
		 * @param gzipped whether the bytes are to be inflated first
		 * @param declared how many records the caller says there are; {@code null} if it
		 * does not say
		 */
		public Uploaded(InputStream body, long length, boolean gzipped, RecordFormat format, @Nullable Long declared) {
			this(body, length, gzipped, format, declared, null, null);
		}

		private Uploaded(InputStream body, long length, boolean gzipped, RecordFormat format, @Nullable Long declared,
				@Nullable String jobId, @Nullable SpooledBody spooled) {
			this.jobId = jobId;
			this.spooled = spooled;
			this.body = body;
			this.length = length;
			this.gzipped = gzipped;
			this.format = format;
			this.declared = declared;
		}

		/**
		 * The same upload, from a file to which its body was copied.
		 * @param jobId the job that will read it
		 * @param copy all bytes of the body
		 * @return an upload that has not begun
		 */
		public Uploaded from(String jobId, SpoolFile copy) {
			Uploaded copied = of(jobId, new SpooledBody(copy, this.gzipped, this.format), this.declared);
			copied.digest = this.digest;
			return copied;
		}

		/**
		 * An upload whose body is on disk already.
		 * @param jobId the job that will read it
		 * @param declared how many records the caller says there are; {@code null} if it
		 * does not say
		 */
		public static Uploaded of(String jobId, SpooledBody body, @Nullable Long declared) {
			return new Uploaded(body.file().open(), body.file().bytes(), body.gzipped(), body.format(), declared, jobId,
					body);
		}

		/**
		 * Has the body digested while it is read.
		 * @param digest takes the bytes as the records are read from them
		 */
		public void digestTo(BodyDigest digest) {
			this.digest = digest;
		}

		/**
		 * Reads the body for its digest alone, as far as it is to agree with another.
		 * @param digest takes the inflated bytes
		 * @param bytes how many bytes the other has
		 * @param maxInflatedBytes the largest body that a gzip body may stand for
		 * @throws IOException if the body cannot be read
		 */
		public void digest(BodyDigest digest, long bytes, long maxInflatedBytes) throws IOException {
			try (InputStream inflated = (this.gzipped) ? new GzipBody(this.body, maxInflatedBytes) : this.body) {
				InputStream digested = digest.of(inflated);
				byte[] buffer = new byte[DIGEST_BUFFER_BYTES];
				boolean more = true;
				while (more && digest.bytes() < bytes) {
					more = digested.read(buffer, 0, (int) Math.min(buffer.length, bytes - digest.bytes())) >= 0;
				}
				if (more && inflated.read() < 0) {
					digest.end();
				}
			}
		}

		/**
		 * The file of the body.
		 * @return {@code null} if the body comes from its caller
		 */
		public @Nullable SpooledBody spooled() {
			return this.spooled;
		}

		/**
		 * The bytes of the records, to be copied.
		 * @return the body, of which nothing was read if the upload has not begun
		 */
		public InputStream body() {
			return this.body;
		}

		/**
		 * The length of the body.
		 * @return how many bytes there are; -1 if nobody knows
		 */
		public long length() {
			return this.length;
		}

		@Override
		public String jobId(String fresh) {
			return (this.jobId != null) ? this.jobId : fresh;
		}

		@Override
		public void open(InputContext context, Consumer<RecordReader> records) {
			StoppedUpload stopped = new StoppedUpload(context.job().stop(), context.job().executor(), context.caller());
			try {
				LendingInputStream lending = new LendingInputStream(this.body, context.lanes(), context.job().stop(),
						context.memory());
				this.opened = lending;
				read(lending, context, records);
			}
			finally {
				stopped.end();
				if (this.spooled != null) {
					this.spooled.leave(this.body);
				}
			}
		}

		private void read(InputStream body, InputContext context, Consumer<RecordReader> records) {
			if (this.gzipped) {
				try (GzipBody inflated = new GzipBody(body, context.maxInflatedBytes())) {
					accept(inflated, context, records);
				}
			}
			else {
				accept(body, context, records);
			}
		}

		private void accept(InputStream inflated, InputContext context, Consumer<RecordReader> records) {
			BodyDigest digest = this.digest;
			InputStream body = (digest != null) ? digest.of(inflated) : inflated;
			RecordReader opened = this.format.open(body, context.operation(), context.mapping(), context.limit());
			this.reader = opened;
			records.accept(opened);
		}

		@Override
		public @Nullable Long declared() {
			return this.declared;
		}

		@Override
		public boolean isSmall() {
			return !this.gzipped && this.length >= 0 && this.length <= SMALL_BYTES;
		}

		@Override
		public double share() {
			LendingInputStream opened = this.opened;
			RecordReader reader = this.reader;
			if (this.length < 0) {
				return Double.NaN;
			}
			return (opened != null && reader != null)
					? reader.consumed() * opened.bytesRead() / Math.max(1, this.length) : 0;
		}

		@Override
		public boolean isUploaded() {
			return true;
		}

		@Override
		public String noun() {
			return (this.gzipped) ? "inflated body" : "body";
		}

	}

}
