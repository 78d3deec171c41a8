package io.pipeset.job.input;

import java.io.InputStream;
import java.util.Objects;
import java.util.function.Consumer;

import io.pipeset.pop.PopReceipt;
import io.pipeset.pop.ReliablePops;
import io.pipeset.record.RecordReader;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.sweep.Sweep;
import io.pipeset.sweep.SweptRecords;
import org.jspecify.annotations.Nullable;

/** The source of a job's records. */
public sealed interface JobInput {

	/**
	 * Opens the input, has its records read, and closes it.
	 * @param context the job that reads
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
	 * The pops for which the job needs a receipt.
	 * @return the pops, or {@code null} if it needs none
	 */
	default @Nullable ReliablePops reliablePops() {
		return null;
	}

	/**
	 * The sweep that finds the records.
	 * @return the sweep, or {@code null} for records from elsewhere
	 */
	default @Nullable Sweep sweep() {
		return null;
	}

	/**
	 * Whether the caller sends the records.
	 * @return {@code false} if the service makes or finds them
	 */
	default boolean isUploaded() {
		return false;
	}

	/**
	 * The name of the bytes that records are read from, for messages.
	 * @return a noun
	 */
	default String noun() {
		return "body";
	}

	/**
	 * Records that the service makes itself.
	 *
	 * @param records the records
	 * @param generated how many there are
	 */
	record Generated(RecordReader records, long generated) implements JobInput {

		@Override
		public void open(InputContext context, Consumer<RecordReader> records) {
			records.accept(this.records);
		}

	}

	/**
	 * Records that pop values reliably.
	 *
	 * @param reliablePops the pops
	 */
	record Popped(ReliablePops reliablePops) implements JobInput {

		@Override
		public void open(InputContext context, Consumer<RecordReader> records) {
			PopReceipt receipt = Objects.requireNonNull(context.receipt());
			receipt.open();
			records.accept(receipt.moves());
		}

		@Override
		public long generated() {
			return this.reliablePops.count();
		}

	}

	/**
	 * Records for the keys that SCAN finds.
	 *
	 * @param sweep the keys to look for
	 */
	record Scanned(Sweep sweep) implements JobInput {

		@Override
		public void open(InputContext context, Consumer<RecordReader> records) {
			try (SweptRecords swept = new SweptRecords(this.sweep, context.lanes(), context.job(), context.memory())) {
				records.accept(swept);
			}
		}

	}

	/**
	 * Records that a caller uploads.
	 *
	 * @param body their bytes, read once and never held whole
	 * @param gzipped whether the bytes are to be inflated first
	 * @param format how the bytes are to be read
	 * @param declared how many the caller says there are; {@code null} if it does not say
	 */
	record Uploaded(InputStream body, boolean gzipped, RecordFormat format,
			@Nullable Long declared) implements JobInput {

		@Override
		public void open(InputContext context, Consumer<RecordReader> records) {
			StoppedUpload stopped = new StoppedUpload(context.job().stop(), context.job().executor(), context.caller());
			try {
				read(new LendingInputStream(this.body, context.lanes(), context.job().stop(), context.memory()),
						context, records);
			}
			finally {
				stopped.end();
			}
		}

		private void read(InputStream body, InputContext context, Consumer<RecordReader> records) {
			if (this.gzipped) {
				try (GzipBody inflated = new GzipBody(body, context.maxInflatedBytes())) {
					records.accept(this.format.open(inflated, context.operation(), context.mapping(), context.limit()));
				}
			}
			else {
				records.accept(this.format.open(body, context.operation(), context.mapping(), context.limit()));
			}
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
