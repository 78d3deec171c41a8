package io.pipeset.job.input;

import java.util.Map;
import java.util.function.Consumer;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.record.RecordReader;
import io.pipeset.record.json.NdjsonReader;
import io.pipeset.record.mapping.Templates;

/** The rows of a query, each as a JSON object, of which templates make records. */
public final class QueriedRecords implements JobInput {

	private final FetchedBody rows;

	private final Templates templates;

	/**
	 * Records of rows that are not queried yet.
	 * @param rows a JSON object a line
	 */
	public QueriedRecords(FetchedBody rows, Templates templates) {
		this.rows = rows;
		this.templates = templates;
	}

	@Override
	public void open(InputContext context, Consumer<RecordReader> records) {
		JobStop stop = context.job().stop();
		Runnable abort = this.rows::abort;
		stop.add(abort);
		try {
			records
				.accept(NdjsonReader.ofRows(new LendingInputStream(this.rows, context.lanes(), stop, context.memory()),
						this.templates, context.mapping().nulls(), context.limit()));
		}
		finally {
			stop.remove(abort);
		}
	}

	@Override
	public void addTo(Map<String, Object> report) {
		this.rows.addTo(report);
	}

	@Override
	public void close() {
		this.rows.closeQuietly();
	}

	@Override
	public String noun() {
		return "rows";
	}

}
