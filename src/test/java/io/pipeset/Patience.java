package io.pipeset;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Has all tests look often at what they wait for, and give up late: a busy machine may
 * stand still for seconds.
 */
public final class Patience implements BeforeAllCallback {

	public Patience() {
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultPollDelay(Duration.ZERO);
		Awaitility.setDefaultPollInterval(Duration.ofMillis(5));
		Awaitility.setDefaultTimeout(Duration.ofMinutes(1));
		// A test that waits is not the one whose thread fails; QuietLog hears of it.
		Awaitility.doNotCatchUncaughtExceptionsByDefault();
	}

}
