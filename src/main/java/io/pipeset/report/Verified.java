package io.pipeset.report;

import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.report.JobReport.Replaced;
import org.jspecify.annotations.Nullable;

/**
 * How the records of a job with {@code verify} compare with what Redis has.
 *
 * @param same Redis has what they should have left
 * @param different Redis has something else in their key
 * @param missing their key is not there
 * @param superseded they differ, because a later record has written over them
 * @param incomparable they leave nothing to compare
 * @param extra the keys of the pattern of {@code replace} that no record writes;
 * {@code null} if they were not looked for
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Verified(long same, long different, long missing, long superseded, long incomparable,
		@Nullable Extra extra) {

	/** A comparison of the records alone. */
	public Verified(long same, long different, long missing, long superseded, long incomparable) {
		this(same, different, missing, superseded, incomparable, null);
	}

	/** The code of records whose key has something else. */
	public static final String DIFFERENT = "DIFFERENT";

	/** The code of records whose key is not there. */
	public static final String MISSING = "MISSING";

	/** The same, with the keys that no record writes. */
	public Verified with(@Nullable Replaced replaced) {
		return (replaced != null) ? new Verified(this.same, this.different, this.missing, this.superseded,
				this.incomparable, new Extra(replaced.removed(), replaced.keys())) : this;
	}

	/** The records that were compared, or cannot be. */
	public long compared() {
		return this.same + this.different + this.missing + this.superseded + this.incomparable;
	}

	/** The records that are not as they should be, or were not compared. */
	long errors(Counts counts) {
		return counts.received() - this.same - this.superseded - this.incomparable;
	}

	/**
	 * Keys that no record writes.
	 *
	 * @param count how many there are
	 * @param keys the first of them
	 */
	public record Extra(long count, List<Object> keys) {

	}

}
