package io.pipeset.redis;

import java.util.concurrent.ThreadPoolExecutor;

import org.springframework.context.ApplicationContext;
import org.springframework.test.util.ReflectionTestUtils;

import static org.awaitility.Awaitility.await;

/**
 * The first sweep of a service's receipts. A service looks after them as soon as it runs,
 * beside its first calls, so that a proxy would count the sweep's messages with those of
 * a test.
 */
public final class FirstSweep {

	private FirstSweep() {
	}

	/** Waits until the first sweep of a service is over. */
	public static void awaitEnd(ApplicationContext service) {
		Object sweeper = service.getBean("receiptSweeper");
		await("first sweep of receipts")
			.until(() -> ReflectionTestUtils.getField(sweeper, "executor") instanceof ThreadPoolExecutor executor
					&& executor.getCompletedTaskCount() > 0);
	}

}
