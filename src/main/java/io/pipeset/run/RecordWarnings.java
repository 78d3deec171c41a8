package io.pipeset.run;

import java.util.ArrayList;
import java.util.List;

import io.pipeset.record.Record;
import io.pipeset.record.RecordWarning;
import io.pipeset.report.JobReport.Warning;

/** Adds up the warnings about single records, which are good nevertheless. */
final class RecordWarnings {

	private static final RecordWarning[] ALL = RecordWarning.values();

	private final long[] counts = new long[ALL.length];

	/** The line of the first record of each; 0 without lines. */
	private final long[] lines = new long[ALL.length];

	/** Adds those of a record that was not rejected. */
	void add(Record record) {
		for (int i = 0; i < ALL.length; i++) {
			int found = record.warnings(ALL[i]);
			this.lines[i] = (found > 0 && this.counts[i] == 0) ? record.line() : this.lines[i];
			this.counts[i] += found;
		}
	}

	List<Warning> warnings() {
		List<Warning> warnings = new ArrayList<>();
		for (int i = 0; i < ALL.length; i++) {
			if (this.counts[i] > 0) {
				warnings.add(new Warning(ALL[i].name(), null, ALL[i].detail(this.counts[i]), this.counts[i],
						(this.lines[i] > 0) ? this.lines[i] : null));
			}
		}
		return warnings;
	}

}
