package io.pipeset.engine.lane;

import java.util.List;

import io.pipeset.engine.slab.Slab;

/** Finds out the values of pops whose answers were lost with their connection. */
@FunctionalInterface
public interface LostPopResolver {

	/**
	 * Enters the values into the slabs whose pops took them, once none of these pops can
	 * run any more.
	 * @param left the slabs that came back from the lost connection, in the order in
	 * which they were sent
	 * @param settled the values that are in the account already
	 * @return {@code false} if they cannot be found out
	 */
	boolean resolve(List<Slab> left, long settled);

}
