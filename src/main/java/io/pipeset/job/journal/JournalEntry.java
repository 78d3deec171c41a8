package io.pipeset.job.journal;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.engine.slab.Loss;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * What became of a record, as its journal has it.
 *
 * @param failure the reason; {@code null} for a record that ran
 * @param last {@code true} for a record that may have run, and after which its job sent
 * nothing; {@code null} for all others
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record JournalEntry(Outcome outcome, @Nullable Failure failure, @Nullable Boolean last) {

	/** A record that was not sent. */
	static final JournalEntry NOT_RUN = new JournalEntry(Outcome.UNPROCESSED,
			new Failure(Loss.NOT_SENT, "The job ended before it was sent", true));

	/** A record that was written and has no outcome: its process ended. */
	static final JournalEntry MAY_HAVE_RUN = new JournalEntry(Outcome.UNKNOWN,
			new Failure(Loss.OF_SERVICE.code(), Loss.OF_SERVICE.message(), true));

	JournalEntry(Outcome outcome, @Nullable Failure failure) {
		this(outcome, failure, null);
	}

	/** Whether the record may have run, and may run again if its job goes on. */
	boolean mayRunAgain() {
		return this.last != null || equals(MAY_HAVE_RUN);
	}

}
