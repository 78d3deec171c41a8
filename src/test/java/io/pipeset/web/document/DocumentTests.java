package io.pipeset.web.document;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.pipeset.Documentation;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.JobLimits;
import io.pipeset.request.Setting;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.Call;
import io.pipeset.web.CallSettings;
import io.pipeset.web.problem.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.info.BuildProperties;

import static org.assertj.core.api.Assertions.assertThat;

/** The OpenAPI document is valid, and agrees with the tables of calls and settings. */
@ServiceTest
class DocumentTests {

	private static final Path FILE = Path.of("src/main/resources/io/pipeset/web/document/openapi.json");

	private static final SchemaRegistry registry = SchemaRegistry
		.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

	private final JsonNode document;

	@Autowired
	private JobLimits limits;

	DocumentTests(Service service) {
		this.document = service.get("/v3/api-docs").json();
	}

	/** With {@code -Ddocument.write} the test writes the file instead. */
	@Test
	void theFileSaysWhatTheTablesSay(@Autowired JobDefaults defaults, @Autowired BuildProperties build,
			@Autowired JsonMapper mapper) throws IOException {
		String text = new OpenApi(this.limits, defaults, build.getVersion(), mapper).text();
		if (System.getProperty("document.write") != null) {
			Files.writeString(FILE, text);
		}
		assertThat(Files.readString(FILE).equals(text))
			.as("%s is out of date: mvn test -Dtest=DocumentTests -Ddocument.write writes it", FILE)
			.isTrue();
	}

	@Test
	void theDocumentIsValid() {
		InputStream schema = getClass().getResourceAsStream("/openapi/schema-3.1.json");
		assertThat(registry.getSchema(schema).validate(this.document.toString(), InputFormat.JSON)).isEmpty();
		assertThat(this.document.get("openapi").asString()).startsWith("3.1.");
		assertThat(this.document.at("/components/securitySchemes/key/scheme").asString()).isEqualTo("bearer");
	}

	@Test
	void theDocumentHasExactlyTheCalls() {
		TreeSet<String> calls = new TreeSet<>();
		this.document.get("paths")
			.properties()
			.forEach((path) -> path.getValue()
				.propertyNames()
				.forEach((method) -> calls.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
		assertThat(calls).containsExactlyInAnyOrderElementsOf(
				Stream.of(Call.values()).map((call) -> call.method() + " " + call.path()).toList());
	}

	@Test
	void everyReferenceHasATarget() {
		List<String> references = new ArrayList<>();
		this.document.findValues("$ref").forEach((reference) -> references.add(reference.asString()));
		assertThat(references).isNotEmpty()
			.allSatisfy((reference) -> assertThat(this.document.at(reference.substring(1)).isMissingNode()).isFalse());
	}

	@ParameterizedTest
	@EnumSource
	void aCallHasItsSettingsWithTheirBoundsAndDefaults(Call call) {
		Map<String, JsonNode> parameters = new LinkedHashMap<>();
		operation(call).path("parameters").forEach((parameter) -> {
			if (parameter.get("in").asString().equals("query")) {
				parameters.put(parameter.get("name").asString(), parameter.get("schema"));
			}
		});
		List<Setting<?>> settings = CallSettings.parameters(call, this.limits);
		assertThat(parameters.keySet()).containsExactlyElementsOf(settings.stream().map(Setting::name).toList());
		settings.forEach((setting) -> check(setting, parameters.get(setting.name())));
	}

	private void check(Setting<?> setting, JsonNode schema) {
		if (schema.has("minimum")) {
			long least = schema.get("minimum").asLong();
			long most = schema.get("maximum").asLong();
			assertThat(List.of(isAllowed(setting, String.valueOf(least - 1)), isAllowed(setting, String.valueOf(least)),
					isAllowed(setting, String.valueOf(most)), isAllowed(setting, (most + 1) + "")))
				.as("the bounds of %s", setting.name())
				.containsExactly(false, true, true, setting.name().equals("count"));
		}
		schema.path("enum").forEach((word) -> assertThat(isAllowed(setting, word.asString())).isTrue());
		JsonNode defaultValue = schema.path("default");
		if (!defaultValue.isMissingNode()) {
			assertThat(isAllowed(setting, defaultValue.asString())).as("the default of %s", setting.name()).isTrue();
		}
		String property = (setting.hasDefault())
				? Documentation.properties("pipeset.defaults.").get(DataObjectPropertyName.toDashedForm(setting.name()))
				: setting.defaultValue();
		if (property != null) {
			assertThat(defaultValue.asString().replace("%", "")).as("the default of %s", setting.name())
				.isEqualTo(property);
		}
	}

	private static <T> boolean isAllowed(Setting<T> setting, String text) {
		T value = setting.allowed().parser().apply(text);
		return value != null && setting.allowed().within().test(value);
	}

	@Test
	void theBoundsOfCountsAreTheLimits() {
		assertThat(operation(Call.PIPESET).at("/parameters/0/schema/maximum").asLong())
			.isEqualTo(this.limits.maxGenerated());
		assertThat(operation(Call.PIPERPOP).at("/parameters/0/schema/maximum").asLong())
			.isEqualTo(this.limits.maxPopped());
	}

	@ParameterizedTest
	@EnumSource
	void everyExampleMatchesItsSchema(Call call) {
		operation(call).get("responses").forEach((response) -> response.path("content").forEach((body) -> {
			body.path("examples").forEach((example) -> check(example(example), body.get("schema")));
			if (body.has("example")) {
				check(body.get("example"), body.get("schema"));
			}
		}));
		operation(call).path("requestBody").path("content").forEach((body) -> {
			if (body.has("example")) {
				check(body.get("example"), body.get("schema"));
			}
		});
	}

	private JsonNode example(JsonNode reference) {
		return this.document.at(reference.get("$ref").asString().substring(1)).get("value");
	}

	private void check(JsonNode example, JsonNode schema) {
		ObjectNode root = ((ObjectNode) schema).deepCopy();
		root.set("components", this.document.get("components"));
		assertThat(registry.getSchema(root).validate(example)).as(example.toString()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void aCallHasItsAnswersAndItsProblemsWithExamples(Call call) {
		JsonNode responses = operation(call).get("responses");
		TreeSet<String> statuses = new TreeSet<>();
		call.answers().forEach((answer) -> statuses.add(String.valueOf(answer.status().value())));
		call.problems().forEach((problem) -> statuses.add(String.valueOf(problem.status().value())));
		assertThat(responses.propertyNames()).containsExactlyInAnyOrderElementsOf(statuses);
		for (Problem problem : call.problems()) {
			JsonNode body = responses.at("/" + problem.status().value() + "/content/application~1problem+json");
			assertThat(body.at("/schema/properties/type/enum")).extracting(JsonNode::asString)
				.contains("urn:pipeset:problem:" + problem.type());
			if (problem != Problem.NO_ROOM) {
				JsonNode example = example(body.at("/examples/" + problem.type()));
				assertThat(example.get("type").asString()).isEqualTo("urn:pipeset:problem:" + problem.type());
				assertThat(example.get("status").asInt()).isEqualTo(problem.status().value());
			}
		}
	}

	private JsonNode operation(Call call) {
		return this.document.get("paths").get(call.path()).get(call.method().name().toLowerCase(Locale.ROOT));
	}

}
