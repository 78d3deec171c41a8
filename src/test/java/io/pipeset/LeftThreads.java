package io.pipeset;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.regex.Pattern;

import org.apache.catalina.loader.WebappClassLoaderBase;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Fails a test class if threads that requests have started are left by a context that was
 * closed. A thread of it that is about to end is waited for.
 */
public final class LeftThreads implements AfterAllCallback {

	/**
	 * Timers of the JVM and of Reactor. There is one of each, which is started by the
	 * first request that needs it, and serves all contexts.
	 */
	private static final Pattern SHARED_TIMERS = Pattern
		.compile("CompletableFutureDelayScheduler|ForkJoinPool.commonPool-delayScheduler|parallel-\\d+");

	/** The threads that have failed a class already. */
	private static final Set<Thread> reported = Collections.newSetFromMap(new WeakHashMap<>());

	@Override
	public void afterAll(ExtensionContext context) {
		try {
			await().untilAsserted(() -> assertThat(left()).as("threads of closed contexts").isEmpty());
		}
		finally {
			reported.addAll(left());
		}
	}

	private static List<Thread> left() {
		return Thread.getAllStackTraces().keySet().stream().filter(LeftThreads::isLeft).toList();
	}

	private static boolean isLeft(Thread thread) {
		return thread.getContextClassLoader() instanceof WebappClassLoaderBase loader
				&& !loader.getState().isAvailable() && !SHARED_TIMERS.matcher(thread.getName()).matches()
				&& !reported.contains(thread);
	}

}
