package io.pipeset.web.source;

import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** At the level of all details too, no log and no problem has a URL's token or a row. */
@ProcessTest
class SourceLogTests {

	private static final String TOKEN = "s3cret-token";

	private static final String ROW = "s3cret-row";

	@Test
	void noTokenAndNoRowIsInTheLogOrInAProblem() throws Exception {
		try (TestPostgres postgres = TestPostgres.start();
				ResourceServer resources = ResourceServer.open();
				TestRedis redis = TestRedis.start();
				ServiceProcess process = ServiceProcess.start(redis, "--logging.level.root=trace",
						"--logging.level.org.springframework=info", "--logging.level.org.apache=info",
						"--pipeset.sources.urls=" + resources.url("/"),
						"--pipeset.callbacks.allowed=" + resources.url("/"),
						"--pipeset.callbacks.secret=whsec_" + "A".repeat(32),
						"--pipeset.sources.queries.rows.url=" + postgres.url() + "?ApplicationName=" + TOKEN,
						"--pipeset.sources.queries.rows.username=" + postgres.user(),
						"--pipeset.sources.queries.rows.sql=SELECT '" + ROW + "' AS id, :p AS v")) {
			Service service = process.service();
			resources.put("/a.csv", "text/csv", ("id,v\n" + ROW + ",1\n").getBytes(StandardCharsets.UTF_8));
			String url = encode(resources.url("/a.csv") + "?X-Amz-Signature=" + TOKEN);
			String templates = "&op=SET&key=%7Bid%7D&value=%7Bv%7D";
			service.post("/v1/jobs?from=url&url=" + url + templates).report();
			service.post("/v1/jobs?from=query&source=rows&param.p=" + ROW + templates).report();
			String callback = "callback=" + encode(resources.url("/hook") + "?token=" + TOKEN);
			Answer begun = service.send(service.request("/v1/jobs?from=url&url=" + url + templates + "&" + callback)
				.header("Prefer", "respond-async")
				.POST(BodyPublishers.noBody()));
			assertThat(begun.status()).isEqualTo(202);
			await().until(() -> service.get("/v1/jobs").text().contains("completed"));
			for (String path : List.of("/v1/jobs?" + callback, "/v1/jobs?" + callback + "%FF",
					"/v1/jobs?from=url&url=" + url + "%FF")) {
				Answer answer = service.post(path, "text/unknown", "x");
				assertThat(answer.status()).isBetween(400, 415);
				assertThat(answer.text()).as(path).doesNotContain(TOKEN);
			}
			assertThat(service.get("/v1/jobs?" + callback + "%FF").text()).doesNotContain(TOKEN);
			process.terminate();
			process.awaitEnd();
			assertThat(process.output()).anyMatch((line) -> line.contains("TRACE"))
				.noneMatch((line) -> line.contains(TOKEN) || line.contains(ROW));
		}
	}

	private static String encode(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8);
	}

}
