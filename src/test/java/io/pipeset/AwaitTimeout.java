package io.pipeset;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Lets all tests check often whether their wait is over, less often once it takes longer,
 * and give up late: a busy machine may stand still for seconds.
 */
public final class AwaitTimeout implements BeforeAllCallback {

	public AwaitTimeout() {
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultPollDelay(Duration.ZERO);
		Awaitility.setDefaultPollInterval((looks, last) -> Duration.ofMillis((looks < 20) ? 5 : 25));
		Awaitility.setDefaultTimeout(Duration.ofMinutes(1));
		// An exception in another thread does not belong to the test that waits. QuietLog
		// reports it.
		Awaitility.doNotCatchUncaughtExceptionsByDefault();
	}

}
