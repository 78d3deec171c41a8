package io.pipeset.web.operator;

import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The log has lines of the service only: whatever a request carries, in its path, query,
 * header or body, cannot begin one, nor is it in one.
 */
@ProcessTest
class ForgedLogTests {

	private static final String MARK = "FORGED";

	private static final String LINE = "2026-01-01T00:00:00Z ERROR " + MARK;

	/** The same behind a line break, as the escapes of a URL. */
	private static final String ESCAPED = "%0d%0a2026-01-01T00:00:00Z%20ERROR%20" + MARK + "%1b%5b31m";

	/** A line of the log begins with its time. */
	private static final Pattern OWN_LINE = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\S+ +(INFO|WARN) .*");

	private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

	private static final List<String> PATHS = List.of("/pipeset/1", "/pipehset/1", "/piperpop/1", "/listinput/l",
			"/v1/jobs", "/v1/scripts", "/v1/tunings", "/v1/analyses", "/v1/jobs/1/ack", "/v1/jobs/1/nack",
			"//pipeset/1");

	/** Those that a server of Actuator's own has as well. */
	private static final List<String> PATHS_OF_ACTUATOR = List.of("/", "/error", "/nothing", "//", "/actuator",
			"/actuator/health", "/actuator/health/a/a", "/actuator/health/liveness", "/actuator/health/readiness/redis",
			"/actuator/info", "/actuator/metrics", "/actuator/metrics/pipeset.job", "/actuator/metrics/nope",
			"/actuator/prometheus", "/actuator/pipeset", "/actuator/nothing");

	private static final List<String> METHODS = List.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
			"TRACE", MARK);

	private static final List<String> SUFFIXES = List.of("/" + ESCAPED, ESCAPED, ";" + ESCAPED, "/" + MARK + "%zz",
			"/" + MARK + "%ff", "/" + MARK + "%00", "/" + MARK + "\u001b[31m", "/../" + MARK, "/WEB-INF/" + MARK,
			"/url:" + MARK, "?" + ESCAPED, "?a" + ESCAPED + "=%zz", "?" + ESCAPED + "=" + ESCAPED,
			"?tag=" + ESCAPED + ":x", "?tag=a:b&tag=%ff" + ESCAPED, "?" + MARK + "=%" + MARK, "?batchSize=" + ESCAPED,
			"?op=" + ESCAPED, "?match=" + ESCAPED + "&from=scan", "?" + (MARK + "&").repeat(1001));

	private static final List<String> HEADERS = List.of("Accept: " + MARK, "Accept: text/csv;" + MARK,
			"Accept: a\u001b" + MARK, "Accept-Encoding: " + MARK, "Accept-Language: " + MARK, "Content-Type: " + MARK,
			"Content-Type: text/plain;charset=" + MARK, "Content-Encoding: " + MARK, "Content-Length: " + MARK,
			"Transfer-Encoding: " + MARK, "Cookie: " + MARK + "=\u0001" + MARK + ";;", "Range: bytes=" + MARK,
			"Expect: " + MARK, "Host: " + MARK, "Origin: " + MARK,
			"Origin: http://localhost\r\nAccess-Control-" + "Request-Method: " + MARK, "Prefer: " + MARK,
			"Idempotency-Key: " + MARK, "Forwarded: " + MARK, "X-Forwarded-Prefix: " + MARK, "traceparent: 00-" + MARK,
			"If-Modified-Since: " + MARK, "Upgrade: " + MARK + "\r\nConnection: upgrade", MARK,
			MARK + " " + MARK + ": a", MARK + ": " + "a".repeat(9000), "\u001b" + MARK + ": a", "A: \u001b" + MARK);

	private static final List<String> TYPES = List.of("application/x-ndjson", "application/json", "text/csv",
			"application/x-redis-resp", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
			"multipart/form-data; boundary=x", "application/x-ndjson\r\nContent-Encoding: gzip");

	/** LocaleTests has a service with a server of Actuator's own. */
	@Test
	void noRequestWritesALineOfTheLog() throws Exception {
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared(), "--pipeset.security.scripts=true",
				// No tuning fits, which would take seconds.
				"--pipeset.tuning.max-bytes=1KB")) {
			sendAll(process.service(), PATHS);
			sendAll(process.service(), PATHS_OF_ACTUATOR);
			forgeByScripts(process.service());
			process.terminate();
			process.awaitEnd();
			assertOwnLines(process.output());
		}
	}

	/** Sends all that could write a line to the server of Actuator. */
	static void forgeAtActuator(Service management) throws IOException {
		sendAll(management, PATHS_OF_ACTUATOR);
	}

	static void assertOwnLines(List<String> log) {
		assertThat(log).noneMatch((line) -> line.contains(MARK) || line.contains("\u001b"))
			.allMatch((line) -> OWN_LINE.matcher(line).matches())
			.filteredOn((line) -> line.contains(" WARN ") && !line.contains("(appendonly no)"))
			.allMatch((line) -> line.contains(" did not complete, "));
	}

	/** The server that starts last is Actuator's. */
	static Service management(ServiceProcess process) {
		return process.output()
			.stream()
			.map(PORT::matcher)
			.filter(Matcher::find)
			.map((found) -> new Service(Integer.parseInt(found.group(1))))
			.filter((server) -> server.port() != process.service().port())
			.findFirst()
			.orElseThrow();
	}

	private static void sendAll(Service service, List<String> paths) throws IOException {
		for (String path : paths) {
			for (String method : METHODS) {
				send(service, method, path, "A: a", "");
			}
			for (String suffix : SUFFIXES) {
				send(service, "GET", path + suffix, "A: a", "");
				send(service, "POST", path + suffix, "A: a", "");
			}
			for (String header : HEADERS) {
				send(service, "GET", path, header, "");
				send(service, "POST", path, header, "");
			}
			for (String type : TYPES) {
				send(service, "POST", path, "Content-Type: " + type, "\r\n" + LINE + "\u001b[31m=%zz\n\r" + LINE);
			}
		}
	}

	private static void send(Service service, String method, String path, String header, String body)
			throws IOException {
		String host = (header.startsWith("Host:")) ? "" : "Host: localhost\r\n";
		try (Wire wire = Wire.open(service, method + " " + path + " HTTP/1.1", host + header, "Connection: close",
				"Content-Length: " + body.length())) {
			wire.send(body).awaitEnd();
		}
	}

	/** Errors of Redis itself could be forged by scripts. */
	private static void forgeByScripts(Service service) {
		for (String code : new String[] { "OOM", "READONLY", "NOAUTH", "MOVED 1 ", "LOADING", MARK, "\\27[31m" }) {
			Answer loaded = service.post("/v1/scripts", "text/plain",
					"return redis.error_reply('" + code + " \\r\\n" + LINE + " \\27[31m')");
			String sha = loaded.json().get("sha").asString();
			String record = JsonMapper.shared().writeValueAsString(List.of("EVALSHA", sha, "1", MARK));
			for (String query : new String[] { "", "?atomic=batch", "?maxErrors=0" }) {
				assertThat(service.ndjson("/v1/jobs" + query, record).text()).contains(MARK);
			}
		}
		await().until(() -> service.get("/actuator/pipeset").json().at("/jobsRunning").asInt() == 0);
	}

}
