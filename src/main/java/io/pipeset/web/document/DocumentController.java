package io.pipeset.web.document;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.report.RedisIdentity;
import io.pipeset.web.Accepted;
import io.pipeset.web.Call;
import io.pipeset.web.Call.CallList;
import io.pipeset.web.CallMapping;
import io.pipeset.web.PlainRequest;
import io.pipeset.web.console.ConsoleProperties;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.info.BuildProperties;
import org.springframework.core.io.ClassPathResource;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RestController;

/** Lists the calls of the service: as a page, as JSON and as the OpenAPI document. */
@RestController
class DocumentController {

	/** The page loads nothing, runs no script, and cannot be shown in a frame. */
	private static final String POLICY = "default-src 'none'; frame-ancestors 'none'";

	private static final String CONSOLE = """
			<p><a href="console">The console</a> loads files from the browser, and shows the jobs and the keys in Redis.</p>
			""";

	private final String version;

	private final ConsoleProperties console;

	private final RedisIdentity redis;

	/** The <a href="https://spec.openapis.org/oas/v3.1">OpenAPI</a> document. */
	private final byte[] document;

	DocumentController(ObjectProvider<BuildProperties> build, ConsoleProperties console, RedisIdentity redis)
			throws IOException {
		this.version = build.stream().map(BuildProperties::getVersion).findAny().orElse("0");
		this.document = new ClassPathResource("openapi.json", DocumentController.class).getContentAsByteArray();
		this.console = console;
		this.redis = redis;
	}

	@CallMapping(Call.LIST_CALLS)
	ResponseEntity<?> list(HttpServletRequest request) {
		PlainRequest.require(request);
		if (Accepted.isPreferred(MediaType.TEXT_HTML, request)) {
			return ResponseEntity.ok()
				.contentType(new MediaType(MediaType.TEXT_HTML, StandardCharsets.UTF_8))
				.header("Content-Security-Policy", POLICY)
				.body(page());
		}
		List<CallList.Row> calls = Stream.of(Call.values())
			.map((call) -> new CallList.Row(call.method().name(), call.path(), Markdown.toText(call.meaning())))
			.toList();
		return ResponseEntity.ok()
			.contentType(MediaType.APPLICATION_JSON)
			.body(new CallList(this.version, this.redis.name(), calls, Call.GET_DOCUMENT.path()));
	}

	@CallMapping(Call.GET_DOCUMENT)
	ResponseEntity<byte[]> document(HttpServletRequest request) {
		PlainRequest.require(request);
		return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(this.document);
	}

	private String page() {
		return Stream.of(Call.values())
			.map((call) -> "<tr><td><code>" + call.method() + " " + call.path() + "</code></td><td>"
					+ Markdown.toHtml(call.meaning()) + "</td></tr>\n")
			.collect(Collectors.joining("", """
					<!DOCTYPE html>
					<html lang="en">
					<head><meta charset="utf-8"><title>Pipeset</title></head>
					<body>
					<h1>Pipeset</h1>
					<p>Loads Redis in bulk over HTTP. <a href="v3/api-docs">The OpenAPI document</a> has the settings,
					answers and problems of each call.</p>
					""" + ((this.console.enabled()) ? CONSOLE : "") + """
					<table>
					""", """
					</table>
					</body>
					</html>
					"""));
	}

}
