package io.pipeset.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A job that is stopped while its caller pauses is answered without waiting for more. */
@ServiceTest(properties = "pipeset.limits.body-idle-timeout=10m")
class StoppedUploadTests {

	private final Service service;

	StoppedUploadTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		TestRedis.shared().client().flushall();
	}

	@Test
	void aStopWakesTheThreadThatWaitsForTheBody() throws IOException {
		TestRedis.shared().client().set("text", "no list");
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?maxErrors=0")) {
			wire.chunk("[\"SET\",\"a\",\"1\"]\n[\"RPUSH\",\"text\",\"1\"]\n[\"SET\",");
			Answer answer = wire.answer();
			assertThat(Answer.counts(answer.job(422, "stopped", "stopped"))).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
			assertThat(answer.json().at("/detail").asString()).contains("maxErrors=0");
		}
	}

	@Test
	void aRecordThatComesByteByByteDoesNotKeepAJobThatIsStopped() throws Exception {
		TestRedis.shared().client().set("text", "no list");
		ScheduledExecutorService sender = Executors.newSingleThreadScheduledExecutor();
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?maxErrors=0")) {
			wire.chunk("[\"RPUSH\",\"text\",\"1\"]\n[\"SET\",");
			Future<?> trickle = sender.scheduleWithFixedDelay(() -> trickle(wire), 0, 100, TimeUnit.MILLISECONDS);
			Answer answer = wire.answer();
			assertThat(Answer.counts(answer.job(422, "stopped", "stopped"))).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
			trickle.cancel(false);
		}
		finally {
			sender.shutdownNow();
		}
	}

	private static void trickle(Wire wire) {
		try {
			wire.chunk(" ");
		}
		catch (IOException ex) {
			// It was answered.
			throw new UncheckedIOException(ex);
		}
	}

}
