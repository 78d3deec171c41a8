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
 * The end of a batch, from which the lane goes on.
 *
 * @param left the slabs that have no final answer yet, in the order in which they were
 * sent
 * @param loss why the connection was lost; {@code null} if it was not
 * @param used whether anything was written
 * @param complete whether every slab came back from the driver
 * @param failure what the driver says about the loss
 * @param fence stands until no command of the batch can run any more; {@code null} if the
 * outcome of each command is known
 */
record BatchResult(List<Slab> left, @Nullable Loss loss, boolean used, boolean complete, @Nullable String failure,
		@Nullable Fence fence) {

	/**
	 * A transient error for which slabs were left, without a loss; in a cluster rather
	 * one that costs a retry than a redirection.
	 */
	@Nullable String transientError() {
		return this.left.stream()
			.map((slab) -> slab.errors().transientCode())
			.filter(Objects::nonNull)
			.reduce((first, next) -> (RedisErrors.means(first, Meaning.REDIRECTS)) ? next : first)
			.orElse(null);
	}

	/** Whether commands were refused that records can be sent without. */
	boolean hasRefusedInCommon() {
		return this.left.stream().anyMatch((slab) -> slab.errors().areInCommon());
	}

}
