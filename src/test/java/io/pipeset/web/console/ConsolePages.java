package io.pipeset.web.console;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import org.junit.jupiter.api.BeforeEach;
import tools.jackson.databind.JsonNode;

/** A base for tests of pages in a browser. Redis is empty before each test. */
abstract class ConsolePages {

	final Service service;

	final Browser browser;

	final RedisCommands<String, String> redis = TestRedis.shared().client();

	ConsolePages(Service service, Browser browser) {
		this.service = service;
		this.browser = browser;
	}

	@BeforeEach
	final void emptyRedis() {
		this.redis.flushall();
	}

	/** The job whose page is shown. */
	final JsonNode job() {
		return this.service.get("/v1/jobs/" + jobId()).json();
	}

	/** The name of Redis, as the header and the dialogs show it. */
	static String redisName() {
		return TestRedis.shared().host() + ":" + TestRedis.shared().port() + "/0";
	}

	final String jobId() {
		return String.valueOf(this.browser.run("return location.hash")).replace("#/jobs/", "");
	}

}
