package io.pipeset.web.document;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.pipeset.service.Answer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the examples of the OpenAPI document with answers of the service. With
 * {@code -Dexamples.write} it writes the answers as the new examples instead.
 */
public final class Examples {

	private static final Path FILE = Path.of("src/test/resources/io/pipeset/web/document/examples.json");

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private Examples() {
	}

	/**
	 * Checks that an answer equals the example of its problem, except for numbers and
	 * names.
	 * @return the answer
	 */
	public static Answer check(int status, String type, Answer answer) {
		return check(answer, answer.problem(status, type), "problems", status + "-" + type);
	}

	/** Checks that an answer has the members of its example. */
	public static Answer checkAnswer(String name, Answer answer) {
		assertThat(answer.header("Content-Type")).isEqualTo("application/json");
		return check(answer, answer.json(), "answers", name);
	}

	private static Answer check(Answer answer, JsonNode body, String kind, String name) {
		ObjectNode all = (ObjectNode) read();
		ObjectNode examples = (ObjectNode) all.get(kind);
		if (System.getProperty("examples.write") != null) {
			examples.set(name, anonymous(body));
			write(all);
		}
		JsonNode example = examples.path(name);
		assertThat(shape(body))
			.as("the answer, and the example %s in %s: run the test with -Dexamples.write, and look"
					+ " at the difference", name, FILE)
			.isEqualTo(shape(example));
		return answer;
	}

	/**
	 * The members of an answer, with the types of their values, or with the texts that
	 * are part of a problem's contract. Warnings are left out, because they depend on the
	 * Redis of the tests.
	 */
	private static Map<String, String> shape(JsonNode json) {
		Map<String, String> shape = new TreeMap<>();
		json.properties().forEach((member) -> {
			boolean contract = Set.of("type", "title", "status", "detail").contains(member.getKey());
			shape.put(member.getKey(),
					(contract) ? withoutNames(member.getValue().asString()) : member.getValue().getNodeType().name());
		});
		shape.remove("warnings");
		return shape;
	}

	private static String withoutNames(String text) {
		return text.replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "ID")
			.replaceAll("(ran it,) [^ ,:]+:[0-9]+", "$1 NODE")
			.replaceAll("(localhost|127\\.0\\.0\\.1|redis):[0-9]+", "NODE")
			.replaceAll("(No connection to Redis at NODE:) [^.]*\\.", "$1 LOSS.")
			// The message names the command only if the timeout of Lettuce expires first,
			// before that of the waiting caller.
			.replaceAll("[A-Z]+\\. (Command timed out)", "$1")
			.replaceAll("Connection (reset( by peer)?|refused|disconnected)(: [^ ]*[0-9])?", "LOSS")
			.replaceAll("[0-9]+(\\.[0-9]+)?", "0");
	}

	/** Replaces the names of this machine, and keeps only one item of a job. */
	private static JsonNode anonymous(JsonNode body) {
		JsonNode shown = mapper.readTree(body.toString());
		if (shown.at("/job/items") instanceof ArrayNode items && items.size() > 1) {
			ObjectNode job = (ObjectNode) shown.get("job");
			job.put("itemsOmitted", job.get("itemsOmitted").asLong() + items.size() - 1);
			job.putArray("items").add(items.get(0));
		}
		return mapper.readTree(shown.toString()
			.replaceAll("(ran it, |heldBy\":\"|instance\":\")[^ ,:/\"]+:[0-9]+", "$1pipeset-2:8080")
			.replaceAll("http://(localhost|127\\.0\\.0\\.1):[0-9]{4,5}", "http://localhost:8080")
			.replaceAll("(localhost|127\\.0\\.0\\.1):(?!8080)[0-9]{4,5}", "redis:6379"));
	}

	/** Problems by status and type, other answers by call, status and media type. */
	static JsonNode read() {
		try {
			return mapper.readTree(Files.readString(FILE));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void write(ObjectNode all) {
		ObjectNode sorted = mapper.createObjectNode();
		for (String kind : new String[] { "problems", "answers" }) {
			ObjectNode examples = sorted.putObject(kind);
			Map<String, JsonNode> byName = new TreeMap<>();
			all.get(kind).properties().forEach((member) -> byName.put(member.getKey(), member.getValue()));
			byName.forEach(examples::set);
		}
		try {
			Files.writeString(FILE, mapper.writerWithDefaultPrettyPrinter().writeValueAsString(sorted) + "\n");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
