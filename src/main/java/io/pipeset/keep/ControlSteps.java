package io.pipeset.keep;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.pipeset.keep.control.ControlRedisException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes to the control Redis that wait until it can be reached again. A failed one does
 * not block the others.
 */
final class ControlSteps {

	private static final Logger logger = LoggerFactory.getLogger(ControlSteps.class);

	private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();

	/**
	 * Adds a step. It must hold no data of callers, because its memory is not counted.
	 */
	void add(Runnable step) {
		this.steps.add(step);
	}

	boolean isEmpty() {
		return this.steps.isEmpty();
	}

	/** Runs all steps. Those for which the control Redis fails stay for the next time. */
	void runAll() {
		this.steps.removeIf(ControlSteps::run);
	}

	/** Runs a step; {@code false} if the control Redis failed, so that it is retried. */
	private static boolean run(Runnable step) {
		try {
			step.run();
		}
		catch (ControlRedisException ex) {
			logger.debug("A step in the control Redis will be retried", ex);
			return false;
		}
		catch (RuntimeException ex) {
			logger.error("A step in the control Redis failed", ex);
		}
		return true;
	}

}
