package io.pipeset.web.document;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.keyspace.Analysis;
import io.pipeset.keyspace.tuning.TuningReport;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobStatus;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobSettings;
import io.pipeset.request.Setting;
import io.pipeset.web.Call;
import io.pipeset.web.Call.Answer;
import io.pipeset.web.CallSettings;
import io.pipeset.web.problem.Problem;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

/**
 * Makes the <a href="https://spec.openapis.org/oas/v3.1">OpenAPI</a> document from the
 * tables of calls, settings, formats and problems, and from the classes of answers. Only
 * the examples are in a file. A test compares them with real answers.
 */
final class OpenApi {

	private static final Map<String, Object> SCHEMES = Map.of("key",
			Map.of("type", "http", "scheme", "bearer", "description",
					"The key of a client. Its hash is in `pipeset.clients.<name>.key-sha256`."),
			"certificate", Map.of("type", "mutualTLS", "description",
					"The certificate of a client. Its subject is in `pipeset.clients.<name>.certificate`."));

	/** A request has to meet one of them: the service says which. */
	private static final List<Map<String, Object>> SECURITY = List.of(Map.of(), Map.of("key", List.of()),
			Map.of("certificate", List.of()), Map.of("key", List.of(), "certificate", List.of()));

	/** The example bodies of all formats, each with the same three records. */
	private static final Map<RecordFormat, Object> BODIES = bodies();

	private final JobLimits limits;

	private final JobSettings defaults;

	private final String version;

	private final JsonMapper mapper;

	/**
	 * Creates a document.
	 * @param version the version of the service
	 * @param mapper the one that writes answers
	 */
	OpenApi(JobLimits limits, JobDefaults defaults, String version, JsonMapper mapper) {
		this.limits = limits;
		this.defaults = defaults.toSettings();
		this.version = version;
		this.mapper = mapper;
	}

	/** The document as text, which is the same each time. */
	String text() {
		return this.mapper.writerWithDefaultPrettyPrinter().writeValueAsString(ordered(document())) + "\n";
	}

	/** The order of immutable maps changes with each process. */
	private static Object ordered(Object value) {
		if (value instanceof Map<?, ?> map) {
			Map<String, Object> ordered = (map instanceof LinkedHashMap) ? new LinkedHashMap<>() : new TreeMap<>();
			map.forEach((name, member) -> ordered.put(String.valueOf(name), ordered(member)));
			return ordered;
		}
		return (value instanceof List<?> list) ? list.stream().map(OpenApi::ordered).toList() : value;
	}

	/** The name of a problem's example. */
	static String exampleName(Problem problem) {
		return problem.status().value() + "-" + problem.type();
	}

	/** The name of another answer's example. Several calls can share an example. */
	static String exampleName(Call call, Answer answer) {
		boolean popped = call == Call.PIPERPOP && answer.status() == HttpStatus.OK;
		Call named = Stream.of(Call.RUN_JOB, Call.GET_JOB)
			.filter((other) -> !popped && other.answers().contains(answer))
			.findFirst()
			.orElse(call);
		return operationId(named) + "-" + answer.status().value() + "-"
				+ String.valueOf(answer.mediaType()).replaceAll(".*/", "");
	}

	private static Map<RecordFormat, Object> bodies() {
		String ndjson = """
				{"op":"SET","key":"user:1","value":"Ada","ttl":3600}
				{"op":"HSET","key":"user:2","fields":{"name":"Grace","age":36}}
				["LPUSH","queue","a","b"]
				""";
		Map<RecordFormat, Object> bodies = new LinkedHashMap<>();
		bodies.put(RecordFormat.NDJSON, ndjson);
		bodies.put(RecordFormat.JSON,
				List.of(Map.of("op", "SET", "key", "user:1", "value", "Ada", "ttl", 3600),
						Map.of("op", "HSET", "key", "user:2", "fields", Map.of("name", "Grace", "age", 36)),
						List.of("LPUSH", "queue", "a", "b")));
		bodies.put(RecordFormat.CSV, "op,key,arg1,arg2\nSET,user:1,Ada,\nHSET,user:2,name,Grace\nLPUSH,queue,a,b\n");
		bodies.put(RecordFormat.TSV,
				"op\tkey\targ1\targ2\nSET\tuser:1\tAda\t\nHSET\tuser:2\tname\tGrace\nLPUSH\tqueue\ta\tb\n");
		bodies.put(RecordFormat.TEXT, "SET user:1 Ada EX 3600\nHSET user:2 name Grace age 36\nLPUSH queue a b\n");
		bodies.put(RecordFormat.RESP,
				"*3\r\n$3\r\nSET\r\n$6\r\nuser:1\r\n$3\r\nAda\r\n"
						+ "*4\r\n$4\r\nHSET\r\n$6\r\nuser:2\r\n$4\r\nname\r\n$5\r\nGrace\r\n"
						+ "*4\r\n$5\r\nLPUSH\r\n$5\r\nqueue\r\n$1\r\na\r\n$1\r\nb\r\n");
		return bodies;
	}

	private Map<String, Object> document() {
		Schemas schemas = new Schemas(this.mapper, List.of(JobReport.class, Analysis.class, TuningReport.class,
				Objects.requireNonNull(Answer.ACCEPTED.type())));
		JsonNode examples = Examples.read();
		Map<String, Object> paths = new LinkedHashMap<>();
		for (Call call : Call.values()) {
			@SuppressWarnings("unchecked")
			Map<String, Object> path = (Map<String, Object>) paths.computeIfAbsent(call.path(),
					(name) -> new LinkedHashMap<>());
			path.put(call.method().name().toLowerCase(Locale.ROOT), operation(call, schemas, examples));
		}
		Map<String, Object> components = new LinkedHashMap<>();
		components.put("schemas", schemas(schemas));
		components.put("examples", examplesByName(examples));
		Map<String, Object> document = new LinkedHashMap<>();
		document.put("openapi", "3.1.1");
		document.put("info", Map.of("title", "Pipeset", "version", this.version, "license",
				Map.of("name", "Apache License 2.0", "identifier", "Apache-2.0"), "description",
				"Loads Redis in bulk. The service refuses unknown settings and members, and the answer names them."
						+ " Bounds of counts, and defaults, are those of a service without properties."));
		document.put("servers", List.of(Map.of("url", "/")));
		document.put("paths", paths);
		document.put("components", components);
		components.put("securitySchemes", SCHEMES);
		document.put("security", SECURITY);
		return document;
	}

	private static String operationId(Call call) {
		StringBuilder name = new StringBuilder();
		for (String word : call.name().toLowerCase(Locale.ROOT).split("_", -1)) {
			name.append((name.isEmpty()) ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
		}
		return name.toString();
	}

	private Map<String, Object> operation(Call call, Schemas schemas, JsonNode examples) {
		Map<String, Object> operation = new LinkedHashMap<>();
		operation.put("operationId", operationId(call));
		operation.put("summary", Markdown.withoutLinks(call.meaning()));
		List<Object> parameters = new ArrayList<>();
		CallSettings.variables(call, this.limits)
			.forEach((variable) -> parameters.add(parameter(variable, "path", true)));
		CallSettings.parameters(call, this.limits)
			.forEach((setting) -> parameters.add(parameter(setting, "query", call == Call.PACE_JOB)));
		addHeaders(call, parameters);
		if (!parameters.isEmpty()) {
			operation.put("parameters", parameters);
		}
		switch (call.body()) {
			case UPLOAD -> operation.put("requestBody", uploadBody(call));
			case SCRIPT -> operation.put("requestBody",
					Map.of("required", true, "description", "The script. The service ignores its Content-Type.",
							"content",
							Map.of(MediaType.TEXT_PLAIN_VALUE,
									Map.of("schema", Map.of("type", "string", "minLength", 1), "example",
											"return redis.call('GET', KEYS[1])"))));
			case NONE -> {
			}
		}
		operation.put("responses", responses(call, schemas, examples));
		return operation;
	}

	private Map<String, Object> parameter(Setting<?> setting, String location, boolean required) {
		Map<String, Object> schema = new TreeMap<>(setting.allowed().schema());
		Object defaultValue = defaultOf(setting, schema);
		if (defaultValue != null) {
			schema.put("default", defaultValue);
		}
		Map<String, Object> parameter = new LinkedHashMap<>();
		parameter.put("name", setting.name());
		parameter.put("in", location);
		parameter.put("required", required);
		parameter.put("description",
				Markdown.withoutLinks(setting.meaning()) + " It must be " + setting.allowed().text() + ".");
		parameter.put("schema",
				(Setting.isRepeated(setting.name())) ? Map.of("type", "array", "items", schema) : schema);
		return parameter;
	}

	/** The default as a JSON value: that of a property, or else that of the setting. */
	private @Nullable Object defaultOf(Setting<?> setting, Map<String, Object> schema) {
		String text = setting.defaultValue();
		if (text == null) {
			return setting.value().apply(this.defaults);
		}
		return switch (String.valueOf(schema.get("type"))) {
			case "integer" -> Long.valueOf(text);
			case "boolean" -> Boolean.valueOf(text);
			default -> text;
		};
	}

	private static void addHeaders(Call call, List<Object> parameters) {
		if (call.isAsynchronous()) {
			parameters.add(header("Prefer", Map.of("type", "string"),
					"With `respond-async` the answer is 202 as soon as the job is accepted. Other preferences are ignored."));
		}
		if (call.runsRecords()) {
			parameters.add(header("Idempotency-Key", Map.of("type", "string", "pattern", "^[!-~]{1,255}$"),
					"The job runs only once, even if its request is sent several times with this key."));
		}
		if (call == Call.FOLLOW_JOB) {
			parameters.add(header("Last-Event-ID", Map.of("type", "string"),
					"The id of the last event that the caller has received. No event follows `end`."));
		}
	}

	private static Map<String, Object> header(String name, Map<String, Object> schema, String description) {
		return Map.of("name", name, "in", "header", "required", false, "schema", schema, "description", description);
	}

	private static Map<String, Object> uploadBody(Call call) {
		Map<String, Object> content = new LinkedHashMap<>();
		BODIES.forEach((format, example) -> {
			Map<String, Object> body = new LinkedHashMap<>();
			// The schema allows any record. A bad record is rejected in the report, and
			// the others run.
			body.put("schema", Map.of("type", (format == RecordFormat.JSON) ? List.of("array", "object") : "string"));
			if (call == Call.RUN_JOB) {
				body.put("example", example);
			}
			content.put(format.mediaType(), body);
		});
		return Map.of("required", false, "content", content, "description", (call == Call.RUN_JOB)
				? "The records. With `from=scan` there is no body. A body may have `Content-Encoding: gzip` or `zstd`."
				: "The records, as many as `count`. If there is no body and no Content-Type, the service"
						+ " generates the records. A body may have `Content-Encoding: gzip` or `zstd`.");
	}

	private static Map<String, Object> responses(Call call, Schemas schemas, JsonNode examples) {
		Map<Integer, Map<String, Object>> responses = new TreeMap<>();
		for (Answer answer : call.answers()) {
			Map<String, Object> response = responses.computeIfAbsent(answer.status().value(),
					(status) -> response(answer.meaning()));
			if (answer.mediaType() != null) {
				Map<String, Object> body = new LinkedHashMap<>();
				body.put("schema",
						(answer.type() != null) ? schemas.of(answer.type())
								: (answer.mediaType().equals(MediaType.TEXT_EVENT_STREAM_VALUE)) ? event(schemas)
										: Map.of("type", "string"));
				if (examples.path("answers").has(exampleName(call, answer))) {
					body.put("example", examples.path("answers").get(exampleName(call, answer)));
				}
				content(response).put(answer.mediaType(), body);
			}
			response.put("headers", headers(call, answer.status()));
		}
		Map<HttpStatus, List<Problem>> problems = call.problems()
			.stream()
			.collect(Collectors.groupingBy(Problem::status, TreeMap::new, Collectors.toList()));
		problems.forEach((status, rows) -> {
			Map<String, Object> response = response(rows.stream()
				.map((row) -> "`" + row.type() + "`: " + Markdown.withoutLinks(row.meaning()) + ".")
				.collect(Collectors.joining("\n\n")));
			List<String> types = rows.stream().map(Problem::uri).toList();
			Map<String, Object> body = new LinkedHashMap<>();
			body.put("schema", Map.of("allOf", List.of(Schemas.reference("Problem")), "properties",
					Map.of("type", Map.of("enum", types), "status", Map.of("const", status.value()))));
			body.put("examples",
					rows.stream()
						.filter((row) -> examples.path("problems").has(exampleName(row)))
						.collect(Collectors.toMap(Problem::type,
								(row) -> Map.of("$ref", "#/components/examples/" + exampleName(row)),
								(one, other) -> one, TreeMap::new)));
			content(response).put(MediaType.APPLICATION_PROBLEM_JSON_VALUE, body);
			response.put("headers", headers(call, status));
			responses.put(status.value(), response);
		});
		Map<String, Object> named = new LinkedHashMap<>();
		responses.forEach((status, response) -> named.put(String.valueOf(status), response));
		return named;
	}

	/** The schema of an event in a stream. Its properties are the lines of the event. */
	private static Map<String, Object> event(Schemas schemas) {
		return Map.of("type", "object", "properties",
				Map.of("id", Map.of("type", "string"), "event",
						Map.of("type", "string", "enum", List.of("progress", "end")), "data",
						Map.of("type", "string", "contentMediaType", MediaType.APPLICATION_JSON_VALUE, "contentSchema",
								schemas.of(JobStatus.class))));
	}

	private static Map<String, Object> response(String description) {
		Map<String, Object> response = new LinkedHashMap<>();
		response.put("description", Markdown.withoutLinks(description));
		return response;
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Object> content(Map<String, Object> response) {
		return (Map<String, Object>) response.computeIfAbsent("content", (name) -> new LinkedHashMap<>());
	}

	private static Map<String, Object> headers(Call call, HttpStatus status) {
		Map<String, Object> headers = new LinkedHashMap<>();
		if (call.answers().contains(Answer.ACCEPTED)) {
			headers.put(HttpHeaders.LOCATION, header("string", "The path of the job, if the request has created one."));
		}
		if (call.runsRecords()) {
			headers.put("Pipeset-Errors",
					header("integer", "The number of rejected, unknown and unprocessed records."));
		}
		if (status == HttpStatus.ACCEPTED || status == HttpStatus.TOO_MANY_REQUESTS
				|| status == HttpStatus.SERVICE_UNAVAILABLE) {
			headers.put(HttpHeaders.RETRY_AFTER, header("integer", "The seconds to wait before the next request."));
		}
		if (status == HttpStatus.UNAUTHORIZED) {
			headers.put(HttpHeaders.WWW_AUTHENTICATE, header("string", "The scheme `Bearer`."));
		}
		return headers;
	}

	private static Map<String, Object> header(String type, String description) {
		return Map.of("schema", Map.of("type", type), "description", description);
	}

	private static Map<String, Object> schemas(Schemas schemas) {
		Map<String, Object> properties = new LinkedHashMap<>();
		properties.put("type",
				Map.of("type", "string", "enum", Stream.of(Problem.values()).map(Problem::uri).distinct().toList()));
		properties.put("title", Map.of("type", "string"));
		properties.put("status", Map.of("type", "integer", "format", "int32"));
		properties.put("detail", Map.of("type", "string"));
		properties.put("instance", Map.of("type", "string", "format", "uri-reference"));
		properties.put(JobKind.RECORDS.reportName(), schemas.of(JobReport.class));
		properties.put(JobKind.ANALYSIS.reportName(), schemas.of(Analysis.class));
		properties.put(JobKind.TUNING.reportName(), schemas.of(TuningReport.class));
		properties.put("heldBy", Map.of("type", "string", "description", "The instance that has the job's records."));
		Map<String, Object> named = new TreeMap<>(schemas.named());
		named.put("Problem", Map.of("type", "object", "description", "Problem details (RFC 9457).", "properties",
				properties, "required", List.of("type", "title", "status", "detail")));
		return named;
	}

	private static Map<String, Object> examplesByName(JsonNode examples) {
		Map<String, Object> named = new LinkedHashMap<>();
		for (Problem problem : Problem.values()) {
			if (examples.path("problems").has(exampleName(problem))) {
				named.put(exampleName(problem), Map.of("summary", Markdown.toText(problem.meaning()), "value",
						examples.path("problems").get(exampleName(problem))));
			}
		}
		return named;
	}

}
