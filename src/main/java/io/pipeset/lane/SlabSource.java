package io.pipeset.lane;

import java.util.Collection;
import java.util.function.Consumer;

import io.pipeset.slab.Slab;
import org.jspecify.annotations.Nullable;

/** The slabs of a lane as a batch sees them: it takes them, and brings each one back. */
interface SlabSource {

	/** The next slab to send, which stays here; {@code null} if none is known. */
	@Nullable Slab peek();

	/**
	 * Takes the next slab to send.
	 * @return a slab whose records follow all that were sent
	 */
	Slab next();

	/**
	 * Waits for one slab, which is then to be sent or is done.
	 * @param nanos how long to wait for it, if positive
	 * @param borrows whether a slab that is lent ends the wait
	 * @param done takes a slab that came back
	 * @return {@code false} if none came in time
	 */
	boolean receive(long nanos, boolean borrows, Consumer<Slab> done);

	/**
	 * Takes the slab that the reading thread has lent while it waits for input, which is
	 * then to be sent.
	 * @return {@code false} if none is lent, or a filled one comes first
	 */
	boolean borrow();

	/** Whether more slabs may come while the batch has nothing on its way. */
	boolean isFed();

	/** Brings a slab back from its connection, on the event loop. */
	void comeBack(Slab slab);

	/** Whether the next slab, if one is known, has to go to another node. */
	boolean leadsElsewhere();

	/** Whether commands that a cluster redirects are sent again. */
	boolean followsRedirects();

	/** Whether a slab with a transient error may be sent again. */
	boolean mayAskAgain();

	/** A slab has its final answer, and Redis is there. */
	void answered(Slab slab);

	/** The driver keeps slabs; whenever they come back, they are ignored. */
	void doesNotGetBack(Collection<Slab> slabs);

}
