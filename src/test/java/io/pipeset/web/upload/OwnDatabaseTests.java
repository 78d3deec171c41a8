package io.pipeset.web.upload;

import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** The database of the address counts as the service's own. */
@ServiceTest(properties = { "spring.data.redis.database=9", "pipeset.control.database=8" })
class OwnDatabaseTests {

	private final Service service;

	OwnDatabaseTests(Service service) {
		this.service = service;
	}

	@Test
	void selectOfTheOwnDatabaseIsNoRecord() {
		String body = "SELECT 9\nSET own 1\nSELECT 0\nSET own 2\n";
		assertThat(Answer.counts(this.service.post("/v1/jobs", "text/plain", body).report()))
			.isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		JsonNode report = this.service.post("/v1/jobs", "text/plain", "GETDEL own\n").report();
		assertThat(report.at("/items/0/reply").asString()).isEqualTo("1");
	}

}
