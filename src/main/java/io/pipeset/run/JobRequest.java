package io.pipeset.run;

import io.pipeset.input.JobInput;
import io.pipeset.keep.JobItems;
import io.pipeset.request.Client;
import io.pipeset.request.JobSettings;
import org.jspecify.annotations.Nullable;

/**
 * A job of records that is to run. It goes whole from the call to the execution.
 *
 * @param values where the report lists popped values
 * @param items the files of a job that is resumed; {@code null} for a new job
 */
public record JobRequest(String id, JobOwner owner, JobInput input, JobSettings settings, Values values,
		@Nullable JobItems items) {

	/** A new job, whose id its input may determine in part. */
	public JobRequest(JobOwner owner, JobInput input, JobSettings settings, Values values) {
		this(input.jobId(JobId.next()), owner, input, settings, values, null);
	}

	/** The same job with another input. */
	public JobRequest with(JobInput input) {
		return new JobRequest(this.id, this.owner, input, this.settings, this.values, this.items);
	}

	public Client client() {
		return this.owner.client();
	}

	/** Where the report lists popped values. */
	public enum Values {

		/** With the record that popped them. */
		IN_ITEMS,

		/** In a separate list. */
		APART

	}

}
