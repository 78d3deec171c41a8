package io.pipeset.web.record;

import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The service does not wait for ever for a script. */
@ServiceTest(properties = { "pipeset.security.scripts=true", "pipeset.limits.body-idle-timeout=1s" })
class StalledScriptTests {

	private final Service service;

	StalledScriptTests(Service service) {
		this.service = service;
	}

	@Test
	void aScriptThatStopsComingIsStalled() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/scripts", "Content-Length: 500")) {
			assertThat(wire.send("return 1").answer().refusal(408, "stalled"))
				.contains("1000ms (pipeset.limits.body-idle-timeout)");
		}
	}

	/** No single pause is too long. */
	@Test
	void aScriptThatTricklesIsStalledAsWell() throws Exception {
		ScheduledExecutorService drip = Executors.newSingleThreadScheduledExecutor();
		try (Wire wire = Wire.post(this.service, "/v1/scripts", "Content-Length: 1000")) {
			Future<?> unused = drip.scheduleAtFixedRate(() -> trySend(wire), 0, 100, TimeUnit.MILLISECONDS);
			assertThat(wire.answer().refusal(408, "stalled")).contains("1000ms (pipeset.limits.body-idle-timeout)");
		}
		finally {
			drip.shutdownNow();
		}
	}

	private static void trySend(Wire wire) {
		try {
			wire.send("-");
		}
		catch (IOException ex) {
			// The service has ended the connection, as it should.
		}
	}

}
