package io.pipeset.web.upload;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The table of docs/formats/producers.md: each file is sent as its row says, and each of
 * its values is stored.
 */
@ServiceTest
class ProducerFilesTests {

	private static final Path PAGE = Path.of("docs/formats/producers.md");

	private static final Path FILES = Path.of("src/test/resources/producers");

	private static final Pattern QUERY = Pattern.compile("http://localhost:8080(/v1/jobs\\?\\S+)'");

	private static final Pattern ROW = Pattern
		.compile(
				"^\\| \\[[^]]+]\\(\\.\\./\\.\\./src/test/resources/producers/([^)]+)\\)"
						+ "(?:\\\\.|[^|\\\\])*\\| `([^`]+)`(?: `([^`]+)`)? \\| ([^|]+) \\| ([^|]+) \\|",
				Pattern.MULTILINE);

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ProducerFilesTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@MethodSource("rows")
	void theRowOfTheTableLoadsTheFile(Producer producer) throws IOException {
		Map<String, Object> expected = expected(producer.file());
		long refused = expected.values().stream().filter("refused"::equals).count();
		expected.values().removeIf("refused"::equals);
		Answer answer = this.service.send(this.service.request(producer.query())
			.header("Content-Type", producer.type())
			.POST(BodyPublishers.ofFile(FILES.resolve(producer.file()))));
		assertThat(stored()).as(answer.text()).containsExactlyEntriesOf(expected);
		assertThat(Answer.counts(answer.report()))
			.isEqualTo(new Counts(expected.size() + refused, expected.size(), 0, refused, 0, 0));
	}

	@ParameterizedTest
	@MethodSource("rows")
	void theRowSaysWhatANullIsAndWhetherItDiffersFromAnEmptyText(Producer producer) throws IOException {
		if (producer.nullText().startsWith("`")) {
			assertThat(Files.readString(FILES.resolve(producer.file()))).contains(producer.nullText().replace("`", ""));
		}
		Map<String, Object> expected = expected(producer.file());
		assertThat(expected.get("row:02").toString()).doesNotContain("text=");
		assertThat(expected.get("row:03").toString().contains("text="))
			.isNotEqualTo(producer.emptyText().startsWith("the same"));
	}

	@Test
	void theTableHasEachFile() throws IOException {
		try (Stream<Path> files = Files.list(FILES)) {
			assertThat(rows().stream().map(Producer::file))
				.containsExactlyInAnyOrderElementsOf(files.map((file) -> file.getFileName().toString())
					.filter((file) -> !List.of("README.md", "expected", "write.py").contains(file))
					.toList());
		}
	}

	static List<Producer> rows() throws IOException {
		String page = Files.readString(PAGE);
		Matcher query = QUERY.matcher(page);
		assertThat(query.find()).isTrue();
		return ROW.matcher(page).results().map((row) -> producer(query.group(1), row)).toList();
	}

	private static Producer producer(String query, MatchResult row) {
		String settings = row.group(3);
		String base = (settings != null && settings.startsWith("key=")) ? query.replaceAll("key=[^&]+&", "") : query;
		String all = (settings != null) ? base + "&" + settings : base;
		return new Producer(row.group(1), row.group(2), all.replace("{", "%7B").replace("}", "%7D"), row.group(4),
				row.group(5));
	}

	private static Map<String, Object> expected(String file) throws IOException {
		JsonNode rows = JsonMapper.builder()
			.build()
			.readTree(Files.readString(FILES.resolve("expected/" + file + ".json")));
		return rows.propertyStream()
			.collect(Collectors.toMap((row) -> "row:" + row.getKey(), (row) -> value(row.getValue()),
					(one, other) -> other, TreeMap::new));
	}

	private static Object value(JsonNode row) {
		return (row.isObject())
				? row.propertyStream()
					.collect(Collectors.toMap(Map.Entry::getKey, (field) -> field.getValue().asString()))
				: row.asString();
	}

	private Map<String, Object> stored() {
		Map<String, Object> hashes = new TreeMap<>();
		this.redis.keys("*").forEach((key) -> hashes.put(key, this.redis.hgetall(key)));
		return hashes;
	}

	/**
	 * A row of the table.
	 *
	 * @param file the file that the producer wrote
	 * @param type the media type to send it as
	 * @param query the path and query to send it to
	 * @param nullText what a null is in it
	 * @param emptyText what the empty string is in it
	 */
	record Producer(String file, String type, String query, String nullText, String emptyText) {

		@Override
		public String toString() {
			return this.file;
		}

	}

}
