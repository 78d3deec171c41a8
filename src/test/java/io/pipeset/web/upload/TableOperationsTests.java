package io.pipeset.web.upload;

import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A property closes all operations that are not in the table. */
@ServiceTest(properties = "pipeset.operations.any=false")
class TableOperationsTests {

	private final Service service;

	TableOperationsTests(Service service) {
		this.service = service;
	}

	@Test
	void otherOperationsAreUnknown() {
		assertThat(this.service.post("/v1/jobs", "text/plain", "LSET list 0 x\n").report().at("/items/0/error/code"))
			.hasToString("\"UNKNOWN_OPERATION\"");
		assertThat(this.service.ndjson("/v1/jobs?op=LSET", "[]").refusal(400, "invalid-setting"))
			.contains("'LSET' is not supported");
	}

}
