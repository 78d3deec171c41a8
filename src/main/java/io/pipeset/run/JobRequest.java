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
 * @param repeat what the caller's repeat of the request can finish; {@code null} if a
 * repeat is another job
 */
public record JobRequest(String id, JobOwner owner, JobInput input, JobSettings settings, Values values,
		@Nullable JobItems items, @Nullable Repeat repeat) {

	/** A new job, whose id its input may determine in part. */
	public JobRequest(JobOwner owner, JobInput input, JobSettings settings, Values values) {
		this(input.jobId(JobId.next()), owner, input, settings, values, null, null);
	}

	/** The same job with another input. */
	public JobRequest with(JobInput input) {
		return new JobRequest(this.id, this.owner, input, this.settings, this.values, this.items, this.repeat);
	}

	/**
	 * The same job, which its caller can finish by a repeat of the request.
	 * @param id the id of the job, which may have begun
	 */
	public JobRequest with(String id, Repeat repeat) {
		return new JobRequest(id, this.owner, this.input, this.settings, this.values, this.items, repeat);
	}

	public Client client() {
		return this.owner.client();
	}

	/**
	 * A request that its caller may send again to finish its job.
	 *
	 * @param fingerprint identifies the request but for its body
	 * @param again whether this request is such a repeat
	 */
	public record Repeat(String fingerprint, boolean again) {

	}

	/** Where the report lists popped values. */
	public enum Values {

		/** With the record that popped them. */
		IN_ITEMS,

		/** In a separate list. */
		APART

	}

}
