package io.pipeset.job.input;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.pipeset.engine.lane.LostPopResolver;
import io.pipeset.job.pop.PopReceipt;
import io.pipeset.job.pop.Receipts;
import io.pipeset.job.pop.ReliablePops;
import io.pipeset.job.sweep.Sweep;
import io.pipeset.job.sweep.SweptRecords;
import io.pipeset.record.GeneratedRecords;
import io.pipeset.record.RecordReader;
import io.pipeset.report.Account;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.JobReport.Scan;
import io.pipeset.report.JobReport.Warning;
import org.jspecify.annotations.Nullable;

/** The source of a job's records. */
public sealed interface JobInput permits JobInput.Generated, JobInput.Popped, JobInput.Scanned, UploadedRecords {

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
	default @Nullable LostPopResolver unknownPops() {
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

	/** What the job's account does not tell of what was read. */
	default List<Warning> warnings() {
		return List.of();
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
