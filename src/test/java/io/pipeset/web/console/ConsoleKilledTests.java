package io.pipeset.web.console;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Browser;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** An open page survives the end of its service's process, and that of Redis. */
@ProcessTest
class ConsoleKilledTests {

	private static final int ROWS = 30_000;

	@TempDir
	private Path folder;

	@Test
	void anOpenPageResumesAJobAfterTheProcessWasKilled(Browser browser) throws Exception {
		String spool = "pipeset.spool.directory=" + this.folder.resolve("spool");
		try (TestRedis redis = TestRedis.start()) {
			int port;
			String job;
			String other;
			try (ServiceProcess process = ServiceProcess.start(redis, "--" + spool)) {
				Service service = process.service();
				port = service.port();
				browser.visit(service, "/#/service");
				browser.awaitSaid("up", "Connections", redis.host() + ":" + redis.port());
				redis.kill();
				browser.awaitSaid("unhealthy", "Redis does not answer");
				redis.restart();
				browser.awaitUnsaid("Redis does not answer");
				service.begin("a");
				String first = browser.window();
				other = browser.open();
				browser.visit(service, "/#/jobs/" + service.awaitJob("running"));
				browser.awaitSaid("running", "Cancel the job");
				browser.look(first);
				browser.clickText("Load");
				browser.choose(products());
				browser.awaitSaid("SET product:100000");
				browser.clickText("Settings");
				browser.type("#field-rateLimit", "300");
				browser.click("#go");
				browser.awaitSaid("running", "s left");
				job = "/v1/jobs/" + String.valueOf(browser.run("return location.hash")).replace("#/jobs/", "");
				await().until(() -> Answer.counts(service.get(job).json()).applied() > ROWS / 50);
				process.kill();
			}
			browser.awaitSaid("The service does not answer.");
			assertThat(shown(browser, "applied")).isLessThanOrEqualTo(loaded(redis));
			try (Replica next = Replica.start(redis, redis.properties(), spool, "server.port=" + port,
					"management.server.port=0", "management.server.address=127.0.0.1")) {
				browser.awaitSaid("interrupted", "The service process ended");
				assertThat(browser.text()).doesNotContain("does not answer");
				Counts before = Answer.counts(next.service().get(job).json());
				assertThat(shown(browser, "applied")).isEqualTo(before.applied());
				assertThat(loaded(redis)).isBetween(before.applied(), before.applied() + before.unknown());
				assertThat(browser
					.run("return [...document.querySelectorAll('#failures-title')].map((title) => title.innerText)"))
					.asInstanceOf(InstanceOfAssertFactories.list(String.class))
					.as("records that may have run")
					.noneMatch((title) -> title.contains("did not run"));
				assertThat(browser.text()).doesNotContain("average rate");
				browser.picture("console-interrupted", 1200, 760);
				String first = browser.window();
				browser.look(other);
				browser.awaitSaid("There is no job", "no longer known");
				assertThat(browser.text()).as("a job whose caller waited").doesNotContain("Cancel the job", "applied");
				browser.look(first);
				browser.clickText("Resume");
				// The call fails if the job has already ended.
				browser.awaitUnsaid("The service process ended");
				next.service().patch(job + "?rateLimit=1000000");
				browser.awaitSaid("completed", "All 30,000 records ran.");
				assertThat(shown(browser, "applied")).isEqualTo(ROWS);
				assertThat(loaded(redis)).isEqualTo(ROWS);
				browser.clickText("Service");
				browser.awaitSaid("Actuator is not at this port", "No job is running or queued.");
			}
		}
	}

	/** The number of records with an outcome, as the page shows it. */
	private static long shown(Browser browser, String outcome) {
		Object text = browser.until("document.querySelector(arguments[0])?.innerText", ".tile." + outcome + " dd");
		return Long.parseLong(text.toString().replace(",", ""));
	}

	private static long loaded(TestRedis redis) {
		return redis.client().keys("product:*").size();
	}

	private Path products() throws Exception {
		return Files.writeString(this.folder.resolve("products.csv"),
				IntStream.range(0, ROWS)
					.mapToObj((i) -> (100_000 + i) + ",Product no. " + i)
					.collect(Collectors.joining("\n", "sku,name\n", "\n")));
	}

}
