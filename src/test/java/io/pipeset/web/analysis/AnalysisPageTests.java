package io.pipeset.web.analysis;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.Documentation;
import io.pipeset.keyspace.AnalysisSettings;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** The calls on the page on analyses work as they stand. */
@ServiceTest
class AnalysisPageTests {

	private static final Path PAGE = Path.of("docs", "analyses.md");

	private static final Pattern CALL = Pattern
		.compile("curl -X POST (?:-H 'Accept: ([^']+)' )?'?http://localhost:8080([^'\\s]*)");

	private static final Pattern ANSWER = Pattern.compile("```json\n(.*?)```", Pattern.DOTALL);

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	AnalysisPageTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void fillRedis() {
		this.redis.flushall();
		this.redis.set("session:1", "a");
		this.redis.hset("user:1", "name", "Ada");
	}

	@Test
	void everyCallOnThePageWorks() throws IOException {
		Matcher calls = CALL.matcher(Files.readString(PAGE));
		int found = 0;
		while (calls.find()) {
			String accept = calls.group(1);
			HttpRequest.Builder request = this.service.request(URI.create(calls.group(2)).toString());
			if (accept != null) {
				request.header("Accept", accept);
			}
			Answer answer = this.service.send(request.POST(BodyPublishers.noBody()));
			assertThat(answer.status()).as("%s: %s", calls.group(2), answer.text()).isEqualTo(200);
			assertThat(answer.header("Content-Type")).startsWith((accept != null) ? accept : "application/json");
			found++;
		}
		assertThat(found).isEqualTo(5);
	}

	@Test
	void theAnswerOnThePageHasTheMembersOfARealOne() throws IOException {
		Matcher shown = ANSWER.matcher(Files.readString(PAGE));
		assertThat(shown.find()).isTrue();
		JsonNode expected = JsonMapper.shared().readTree(shown.group(1));
		AnalysisTests.checked(expected, "completed");
		JsonNode real = this.service.post("/v1/analyses").json();
		assertThat(real.propertyNames()).containsExactlyElementsOf(expected.propertyNames());
		for (String list : List.of("types", "prefixes", "ttls", "sizes", "largest")) {
			assertThat(real.at("/" + list + "/0").propertyNames())
				.containsExactlyElementsOf(expected.at("/" + list + "/0").propertyNames());
		}
	}

	@Test
	void theTableHasEverySetting() throws IOException {
		List<String> expected = new ArrayList<>();
		AnalysisSettings.all()
			.forEach((row) -> expected.add("| `" + row.name() + "` | " + row.allowed().text() + " | "));
		List<String> rows = Documentation.rows(PAGE.toString(), "## Settings");
		assertThat(rows).hasSameSizeAs(expected);
		for (int row = 0; row < rows.size(); row++) {
			assertThat(rows.get(row)).startsWith(expected.get(row))
				.endsWith("| " + AnalysisSettings.all().get(row).meaning() + " |");
		}
	}

}
