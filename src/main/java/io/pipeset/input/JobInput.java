package io.pipeset.input;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.pipeset.engine.lane.LostPopResolver;
import io.pipeset.receipt.PopReceipt;
import io.pipeset.receipt.Receipts;
import io.pipeset.receipt.ReliablePops;
import io.pipeset.record.GeneratedRecords;
import io.pipeset.record.RecordReader;
import io.pipeset.report.Account;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.JobReport.Scan;
import io.pipeset.report.JobReport.Warning;
import org.jspecify.annotations.Nullable;

/** The source of a job's records. */
public sealed interface JobInput
		permits JobInput.Generated, JobInput.Popped, JobInput.Scanned, QueriedRecords, UploadedRecords {

	/** The most records of a small job. */
	int SMALL_RECORDS = 1_000;

	/** The most bytes of a small job's body. */
	int SMALL_BYTES = 64 << 10;

	/**
	 * Opens the input, passes its records to a reader, and closes it.
	 * @param records reads the records, in the calling thread
	 */
	void open(InputContext context, Consumer<RecordReader> records);

	/**
	 * How many records the service makes itself.
	 * @return 0 for records of another source
	 */
	default long generated() {
		return 0;
	}

	/**
	 * How many records the caller has declared.
	 * @return {@code null} if it has declared none
	 */
	default @Nullable Long declared() {
		return null;
	}

	/**
	 * After how many records the job ends, though there may be more.
	 * @return {@code null} if it reads all
	 */
	default @Nullable Long limit() {
		return null;
	}

	/**
	 * How many records there are, generated or declared.
	 * @return {@code null} if unknown
	 */
	default @Nullable Long total() {
		return declared();
	}

	/**
	 * Whether the input is so small that the job ends soon.
	 * @return {@code false} also if the size is unknown
	 */
	default boolean isSmall() {
		return generated() > 0 && generated() <= SMALL_RECORDS;
	}

	/**
	 * The part of the input that was read so far; any thread may call this.
	 * @return 0 to 1; NaN if unknown
	 */
	default double share() {
		return Double.NaN;
	}

	/**
	 * The id of the job that reads this input.
	 * @param fresh a new id
	 * @return that id, or one made from it
	 */
	default String jobId(String fresh) {
		return fresh;
	}

	/**
	 * The resolver that finds the values of pops whose replies were lost.
	 * @return {@code null} if such pops stay unknown
	 */
	default @Nullable LostPopResolver unknownPops() {
		return null;
	}

	/** Adds the settings that only a job with this input has to a report. */
	default void addTo(Map<String, Object> report) {
	}

	/**
	 * How the scan for the records went.
	 * @return {@code null} for records that do not come from a scan
	 */
	default @Nullable Scan scan() {
		return null;
	}

	/** How many commands rows have left out; any thread may call this. */
	default long leftOut() {
		return 0;
	}

	/** Warnings about the input for the report. */
	default List<Warning> warnings() {
		return List.of();
	}

	/** What the records so far give reason to say to the caller. */
	static List<Warning> warnings(RecordReader records) {
		return records.notices()
			.stream()
			.map((notice) -> new Warning(notice.code(), null, notice.detail(),
					(notice.count() > 0) ? notice.count() : null, (notice.line() > 0) ? notice.line() : null))
			.toList();
	}

	/**
	 * Hands over the receipt of the popped values to the caller, after all records have
	 * their outcome. May stop the job.
	 * @return {@code null} if there is nothing to acknowledge
	 */
	default @Nullable Receipt handOver(Account account) {
		return null;
	}

	/**
	 * Whether the caller uploads the records.
	 * @return {@code false} if the service generates them or scans for them
	 */
	default boolean isUploaded() {
		return false;
	}

	/**
	 * Closes what the input holds, also if it was never opened. Called once the job has
	 * ended, or is refused.
	 */
	default void close() {
	}

	/** The name of the input, for messages. */
	default String noun() {
		return "body";
	}

	/** Records that the service generates. */
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

		private final boolean dryRun;

		/** Made before the first pop. */
		private @Nullable PopReceipt receipt;

		public Popped(ReliablePops pops, Receipts receipts, boolean dryRun) {
			this.pops = pops;
			this.receipts = receipts;
			this.dryRun = dryRun;
		}

		@Override
		public void open(InputContext context, Consumer<RecordReader> records) {
			if (this.dryRun) {
				records.accept(GeneratedRecords.pops(this.pops.key(), this.pops.count()));
				return;
			}
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
		public LostPopResolver unknownPops() {
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

}
