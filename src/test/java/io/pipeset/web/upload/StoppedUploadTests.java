package io.pipeset.web.upload;

import java.io.IOException;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Trickle;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A job that is stopped while its caller pauses is answered at once. */
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
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?maxErrors=0"); Trickle trickle = new Trickle()) {
			wire.chunk("[\"RPUSH\",\"text\",\"1\"]\n[\"SET\",");
			trickle.add(wire);
			Answer answer = wire.answer();
			assertThat(Answer.counts(answer.job(422, "stopped", "stopped"))).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		}
	}

}
