package io.pipeset.engine.lane;

import java.util.List;

import io.pipeset.engine.slab.Slab;

/** Finds the values of pops whose answers were lost with their connection. */
@FunctionalInterface
public interface LostPopResolver {

	/**
	 * Gives each slab the values that its pops took. With no slabs, it only checks that
	 * the values popped earlier are still in the receipt. Call it only when none of these
	 * pops can run any more.
	 * @param returned the slabs that came back from the lost connection, in the order in
	 * which they were sent
	 * @param counted how many popped values the job has already counted
	 * @return {@code false} if the values cannot be found
	 */
	boolean resolve(List<Slab> returned, long counted);

}
