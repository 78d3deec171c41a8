package io.pipeset.web.operator;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** At the level of all details too, the log has neither data nor credentials. */
@ProcessTest
class TraceLogTests {

	private static final String KEY = "s3cret-key";

	private static final String VALUE = "s3cret-value";

	/** The beginning of a line that has a logger. */
	private static final Pattern HEAD = Pattern.compile("^\\d{4}-\\d\\d-\\d\\dT\\S+ +[A-Z]+ .* ([a-zA-Z0-9.$_-]+) +: ");

	@Test
	void noDataAndNoCredentialIsInTheLogAtAnyLevel() throws Exception {
		try (TestRedis redis = TestRedis.start();
				ServiceProcess process = ServiceProcess.start(redis, "--logging.level.root=trace",
						"--logging.level.io.lettuce=trace", "--logging.level.io.netty=trace",
						"--logging.level.org.apache.coyote=trace", "--logging.level.org.apache.tomcat=trace",
						"--logging.level.org.apache.catalina=trace", "--logging.level.org.springframework=trace",
						"--logging.level.web=trace", "--logging.level.io.pipeset=trace",
						// The beans of each start, which are many.
						"--logging.level.org.springframework.beans=info",
						"--logging.level.org.springframework.core=info",
						"--logging.level.org.springframework.context=info",
						"--logging.level.org.springframework.boot=info")) {
			Service service = process.service();
			String record = "[\"SET\",\"" + KEY + "\",\"" + VALUE + "\"]";
			service.ndjson("/v1/jobs?results=all", record, "[\"LPUSH\",\"" + KEY + "\",\"" + VALUE + "\"]", VALUE)
				.report();
			service.ndjson("/v1/jobs?coalesce=off&atomic=batch", record, record).report();
			service.post("/v1/jobs?op=SET&key=%7Ba%7D&value=%7Bb%7D", "text/csv", "a,b\n" + KEY + "," + VALUE + "\n")
				.report();
			redis.client().rpush("list", VALUE);
			service.post("/piperpop/1?key=list&reliable=true").report();
			service.post("/listinput/" + KEY + "?count=1").report();
			service.post("/v1/analyses").json();
			service.post("/v1/jobs?from=scan&match=" + KEY + "*&op=UNLINK&results=all").report();
			try (Wire wire = Wire.post(service, "/v1/jobs", "Authorization: Bearer " + VALUE, "Prefer: respond-async",
					"Idempotency-Key: " + VALUE, "Content-Type: " + Service.NDJSON,
					"Content-Length: " + record.length())) {
				assertThat(wire.send(record).answer().status()).isEqualTo(202);
			}
			await().until(() -> service.get("/v1/jobs").text().contains("completed"));
			service.get("/v1/jobs?limit=5").json();
			try (Wire wire = Wire.open(service, VALUE)) {
				assertThat(wire.answer().status()).isEqualTo(400);
			}
			process.terminate();
			process.awaitEnd();
			List<String> output = process.output();
			assertThat(output).as("the levels are those that were asked for")
				.anyMatch((line) -> line.contains("TRACE"));
			assertThat(loggersOf(VALUE, output)).as("that log values").isEmpty();
			assertThat(loggersOf(KEY, output)).as("that log keys").isEmpty();
			String password = redis.password();
			assertThat((password != null) ? loggersOf(password, output) : Set.of()).as("that log Redis's password")
				.isEmpty();
		}
	}

	/** The loggers that have written a text, perhaps in one of several lines. */
	private static Set<String> loggersOf(String secret, List<String> output) {
		Set<String> loggers = new TreeSet<>();
		String logger = "";
		for (String line : output) {
			Matcher head = HEAD.matcher(line);
			logger = (head.find()) ? head.group(1) : logger;
			if (line.contains(secret)) {
				loggers.add(logger);
			}
		}
		return loggers;
	}

}
