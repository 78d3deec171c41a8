package io.pipeset.engine.lane;

import java.util.List;

import io.pipeset.engine.slab.Slab;

/** Finds the values of pops whose answers were lost with their connection. */
@FunctionalInterface
public interface LostPopResolver {

	/**
	 * Enters the values into the slabs whose pops took them. Call it only when none of
	 * these pops can run any more.
	 * @param unsettled the slabs that came back from the lost connection, in the order in
	 * which they were sent
	 * @param settled how many popped values are in the account already
	 * @return {@code false} if the values cannot be found
	 */
	boolean resolve(List<Slab> unsettled, long settled);

}
