package io.pipeset.keep;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.engine.slab.Loss;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;
import io.pipeset.report.Verified;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a record in its journal.
 *
 * @param failure the reason; {@code null} for a record that ran
 * @param last {@code true} for a record that may have run if its job sent nothing after
 * it; {@code null} for all others
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record JournalEntry(Outcome outcome, @Nullable Failure failure, @Nullable Boolean last) {

	/** A record that was not sent. */
	static final JournalEntry NOT_RUN = new JournalEntry(Outcome.UNPROCESSED,
			new Failure(Loss.NOT_SENT, "The job ended before it was sent", true));

	/** A record that was sent and has no outcome, because its process ended. */
	static final JournalEntry MAY_HAVE_RUN = new JournalEntry(Outcome.UNKNOWN,
			new Failure(Loss.OF_SERVICE.code(), Loss.OF_SERVICE.message(), true));

	JournalEntry(Outcome outcome, @Nullable Failure failure) {
		this(outcome, failure, null);
	}

	/** Its outcome, or how the record compares, as callers name it. */
	String status() {
		String code = (this.failure != null) ? this.failure.code() : "";
		return (code.equals(Verified.DIFFERENT) || code.equals(Verified.MISSING)) ? code.toLowerCase(Locale.ROOT)
				: this.outcome.label();
	}

	/** Whether the record may have run, and may be sent again if its job is resumed. */
	boolean mayRunAgain() {
		return this.last != null || equals(MAY_HAVE_RUN);
	}

}
