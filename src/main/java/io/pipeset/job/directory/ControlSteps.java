package io.pipeset.job.directory;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.pipeset.job.control.ControlRedisException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps that wait until the control Redis can be reached again. One that it refuses
 * keeps no other from being taken.
 */
final class ControlSteps {

	private static final Logger logger = LoggerFactory.getLogger(ControlSteps.class);

	private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();

	/** Adds a step, which holds no data of callers. */
	void add(Runnable step) {
		this.steps.add(step);
	}

	boolean isEmpty() {
		return this.steps.isEmpty();
	}

	/** Takes all steps. Those for which the control Redis fails go on waiting. */
	void take() {
		this.steps.removeIf(ControlSteps::isTaken);
	}

	/** A step that fails for another reason than the control Redis is not tried again. */
	private static boolean isTaken(Runnable step) {
		try {
			step.run();
		}
		catch (ControlRedisException ex) {
			logger.debug("A step in the control Redis is tried again", ex);
			return false;
		}
		catch (RuntimeException ex) {
			logger.error("A step in the control Redis failed", ex);
		}
		return true;
	}

}
