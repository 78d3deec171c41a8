package io.pipeset.engine.lane;

import java.util.List;
import java.util.Objects;

import io.pipeset.engine.pipeline.Fence;
import io.pipeset.engine.slab.Loss;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.engine.slab.Slab;
import org.jspecify.annotations.Nullable;

/**
 * The result of a batch, from which the lane continues.
 *
 * @param unsettled the slabs that have no final answer yet, in the order in which they
 * were sent
 * @param loss why the connection was lost; {@code null} if it was not
 * @param written whether anything was written
 * @param allReturned whether the driver has returned every slab
 * @param failure the driver's message about the loss; {@code null} if there is none
 * @param fence confirms that no command of the batch can run any more; {@code null} if
 * the outcome of each command is known
 */
record BatchResult(List<Slab> unsettled, @Nullable Loss loss, boolean written, boolean allReturned,
		@Nullable String failure, @Nullable Fence fence) {

	/** The result of a batch that was not run. */
	static final BatchResult NONE = new BatchResult(List.of(), null, false, true, null, null);

	/**
	 * A transient error of an unsettled slab. In a cluster, an error that costs a retry
	 * is preferred to a redirection.
	 */
	@Nullable String transientError() {
		return this.unsettled.stream()
			.map((slab) -> slab.errors().transientCode())
			.filter(Objects::nonNull)
			.reduce((first, next) -> (RedisErrors.means(first, Meaning.REDIRECTS)) ? next : first)
			.orElse(null);
	}

	/** Whether coalesced commands were refused whose records can be sent one by one. */
	boolean hasCoalescedRefusals() {
		return this.unsettled.stream().anyMatch((slab) -> slab.errors().areInCommon());
	}

}
