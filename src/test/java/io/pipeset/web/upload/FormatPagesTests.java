package io.pipeset.web.upload;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The example on each format's page, and in the README, works as it stands: the service
 * gives the answer that the page shows. No example meets the keys of another one.
 */
@ServiceTest
class FormatPagesTests {

	private static final Path PAGES = Path.of("docs", "formats");

	private static final Pattern SHELL = Pattern.compile("```sh\n([^`]*curl.*?)```", Pattern.DOTALL);

	private static final Pattern ANSWER = Pattern.compile("```json\n(.*?)```", Pattern.DOTALL);

	private static final Pattern HERE_DOCUMENT = Pattern.compile("<<'EOF'\n(.*?\n)EOF\n", Pattern.DOTALL);

	private static final Pattern PRINTF = Pattern.compile("printf '(.*)' >");

	private static final Pattern HEADER = Pattern.compile("-H '([^:]+): ([^']+)'");

	private static final Pattern URL = Pattern.compile("http://localhost:8080([^'\\s]*)");

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	FormatPagesTests(Service service) {
		this.service = service;
	}

	@BeforeAll
	static void emptyRedis() {
		TestRedis.shared().client().flushall();
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "ndjson", "json", "csv", "tsv", "resp", "text", "compression", "../templates", "../../README" })
	void theExampleRunsAsThePageSays(String page) throws IOException {
		String text = Files.readString(PAGES.resolve(page + ".md"));
		String shell = first(SHELL, text);
		HttpRequest.Builder request = this.service
			.request(URI.create(first(URL, shell).replace("{", "%7B").replace("}", "%7D")).toString());
		byte[] body = body(shell);
		Matcher headers = HEADER.matcher(shell);
		while (headers.find()) {
			request.header(headers.group(1), headers.group(2));
			body = (headers.group(1).equals("Content-Encoding")) ? gzip(body) : body;
		}
		long keys = this.redis.dbsize();
		JsonNode report = this.service.send(request.POST(BodyPublishers.ofByteArray(body))).report();
		JsonNode expected = JsonMapper.builder().build().readTree("{" + first(ANSWER, text) + "}");
		assertThat(report.get("counts")).isEqualTo(expected.get("counts"));
		assertThat(this.redis.dbsize() - keys).isEqualTo(report.at("/counts/applied").asLong());
	}

	@Test
	void everyFormatHasItsPage() throws IOException {
		try (Stream<Path> pages = Files.list(PAGES)) {
			String all = String.join("\n", pages.map(FormatPagesTests::read).toList());
			assertThat(RecordFormat.values())
				.allSatisfy((format) -> assertThat(all).contains(": `" + format.mediaType() + "`"));
		}
		String readme = read(Path.of("README.md"));
		assertThat(List.of("ndjson", "json", "csv", "tsv", "resp", "text", "compression"))
			.allSatisfy((page) -> assertThat(readme).contains("docs/formats/" + page + ".md"));
	}

	private static byte[] body(String shell) {
		Matcher document = HERE_DOCUMENT.matcher(shell);
		if (document.find()) {
			return document.group(1).getBytes(StandardCharsets.UTF_8);
		}
		return first(PRINTF, shell).replace("\\r", "\r")
			.replace("\\n", "\n")
			.replace("\\t", "\t")
			.getBytes(StandardCharsets.UTF_8);
	}

	private static byte[] gzip(byte[] bytes) throws IOException {
		ByteArrayOutputStream gzip = new ByteArrayOutputStream();
		try (OutputStream out = new GZIPOutputStream(gzip)) {
			out.write(bytes);
		}
		return gzip.toByteArray();
	}

	private static String first(Pattern pattern, String text) {
		Matcher matcher = pattern.matcher(text);
		assertThat(matcher.find()).as("%s in %s", pattern, text).isTrue();
		return matcher.group(1);
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

}
