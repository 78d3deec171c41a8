package io.pipeset;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * Runs tasks that may block, each in a thread of its own. From JDK 25 on the common pool
 * of a machine with two cores has one thread, in which such tasks would wait for each
 * other.
 */
public final class OwnThread {

	private static final Executor THREADS = (task) -> {
		Thread thread = new Thread(task, "own-thread");
		thread.setDaemon(true);
		thread.start();
	};

	private OwnThread() {
	}

	/**
	 * Runs a task.
	 * @param task the task, which may block
	 * @return done when the task has ended
	 */
	public static CompletableFuture<Void> run(Runnable task) {
		return CompletableFuture.runAsync(task, THREADS);
	}

	/**
	 * Runs a task that has a result.
	 * @param task the task, which may block
	 * @param <T> the type of its result
	 * @return the result, when the task has ended
	 */
	public static <T> CompletableFuture<T> supply(Supplier<T> task) {
		return CompletableFuture.supplyAsync(task, THREADS);
	}

}
