package io.pipeset.input;

import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.record.RecordReader;
import io.pipeset.report.JobReport.Warning;
import org.jspecify.annotations.Nullable;

/** The rows of a query, of which templates make records. */
public final class QueriedRecords implements JobInput {

	private final FetchedRows rows;

	private final @Nullable Long limit;

	/**
	 * Records of rows that are not queried yet.
	 * @param limit the most records to read; {@code null} for all
	 */
	public QueriedRecords(FetchedRows rows, @Nullable Long limit) {
		this.rows = rows;
		this.limit = limit;
	}

	@Override
	public void open(InputContext context, Consumer<RecordReader> records) {
		JobStop stop = context.job().stop();
		Runnable abort = this.rows::abort;
		stop.add(abort);
		try {
			this.rows.begin(context.limit(), new LendingWait(context));
			records.accept(this.rows);
		}
		finally {
			stop.remove(abort);
		}
	}

	@Override
	public List<Warning> warnings() {
		return JobInput.warnings(this.rows);
	}

	@Override
	public long leftOut() {
		return this.rows.leftOut();
	}

	@Override
	public @Nullable Long limit() {
		return this.limit;
	}

	@Override
	public void addTo(Map<String, Object> report) {
		this.rows.addTo(report);
		if (this.limit != null) {
			report.put("limit", this.limit);
		}
	}

	@Override
	public void close() {
		this.rows.close();
	}

	@Override
	public String noun() {
		return "rows";
	}

	/** Lends partly filled slabs to the lanes while the job waits for rows. */
	private record LendingWait(InputContext context) implements FetchedRows.Wait {

		@Override
		public <T> T during(FetchedRows.Step<T> step) throws SQLException, IOException {
			this.context.lanes().lend();
			this.context.memory().startBodyWait();
			try {
				return step.run();
			}
			finally {
				this.context.memory().endBodyWait();
				this.context.lanes().reclaim();
			}
		}

	}

}
