package io.pipeset.web.operator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.lettuce.core.KillArgs;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Everything that the dashboard draws and the alerts look at is in the scrape of a
 * service that works and has trouble, with the labels and their values.
 */
@ServiceTest(properties = { "pipeset.limits.max-running-jobs=1", "pipeset.limits.max-waiting-jobs=0",
		"spring.ssl.bundle.pem.trusted.truststore.certificate=classpath:tls/redis.crt" })
class DashboardTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final FaultProxy proxy = own.proxy();

	private static final String APPLIED = "pipeset_records_total{op=\"SET\",outcome=\"applied\"}";

	private static final Pattern SAMPLE = Pattern.compile("([a-zA-Z_:][\\w:]*+)(?:\\{(.*)})? (\\S+)");

	private static final Pattern LABEL = Pattern.compile("(\\w+)\\s*(=~|!~|!=|=)\\s*\"([^\"]*)\"");

	private static final Pattern GROUPING = Pattern
		.compile("\\b(?:by|without|on|ignoring|group_left|group_right)\\s*\\(([^)]*)\\)");

	private static final Pattern SELECTOR = Pattern.compile("([a-zA-Z_:][\\w:]*+)(?!\\s*\\()(?:\\{([^}]*)})?");

	/** Prometheus adds these to each sample. */
	private static final Set<String> TARGET = Set.of("job", "instance");

	/** Prometheus makes these itself, and the others are operators. */
	private static final Set<String> NOT_SCRAPED = Set.of("up", "ALERTS", "and", "or", "unless", "bool", "offset");

	private final Service service;

	DashboardTests(Service service) {
		this.service = service;
	}

	@Test
	void allThatDashboardAndAlertsNameIsInAScrapeDuringALoad() throws Exception {
		troubles();
		double applied = value(scrape(), APPLIED);
		try (Wire load = Wire.upload(this.service, "/v1/jobs?op=SET")) {
			load.chunk("{\"key\":\"live\",\"value\":\"1\"}\n".repeat(100));
			await().untilAsserted(() -> {
				List<Sample> scrape = scrape();
				assertThat(value(scrape, "pipeset_job_active_seconds_count{op=\"SET\"}")).isEqualTo(1);
				assertThat(value(scrape, APPLIED)).as("with those of a job that has not ended")
					.isEqualTo(applied + 100);
			});
			this.service.post("/pipeset/1").refusal(429, "limit");
			List<Sample> scrape = scrape();
			List<String> expressions = new ArrayList<>(alerts());
			expressions.addAll(dashboard());
			expressions.addAll(autoscaler());
			expressions.addAll(questions());
			assertThat(expressions).hasSizeGreaterThan(50)
				.allSatisfy((expression) -> assertThat(missing(expression, scrape)).as(expression).isEmpty());
			load.lastChunk().answer().report();
		}
	}

	/** A counter grows for Prometheus from its second sample on. */
	@Test
	@EnabledIf("hasPrometheus")
	void prometheusAnswersTheQuestions(@TempDir Path folder) throws Exception {
		troubles();
		try (Prometheus prometheus = Prometheus.start(folder, this.service)) {
			await().until(() -> !prometheus.query("pipeset_records_total").isEmpty());
			troubles();
			for (String question : questions()) {
				await(question).until(() -> prometheus.query(question).stream().anyMatch(Double::isFinite));
			}
		}
	}

	static boolean hasPrometheus() {
		return Prometheus.isFound();
	}

	@Test
	void legendsAndSummariesNameLabelsThatTheirExpressionsKeep() throws IOException {
		for (JsonNode target : targets()) {
			String expression = target.get("expr").asString();
			names(target.get("legendFormat").asString(), "\\{\\{(\\w+)}}")
				.forEach((label) -> assertThat(kept(expression)).as(expression).contains(label));
		}
		for (Map<?, ?> rule : rules()) {
			String expression = String.valueOf(rule.get("expr"));
			if (expression.contains(" by ")) {
				names(String.valueOf(rule.get("annotations")), "\\$labels\\.(\\w+)")
					.forEach((label) -> assertThat(kept(expression)).as(expression).contains(label));
			}
		}
	}

	/**
	 * Has records of all outcomes, a job that fails, a retry, and a Redis that is away.
	 */
	private void troubles() throws Exception {
		this.service.post("/pipehset/10").report();
		this.service
			.ndjson("/v1/jobs", "[\"SET\",\"a\",\"1\"]", "[\"LPUSH\",\"a\",\"1\"]", "[\"RPOP\",\"nothing\"]", "[")
			.report();
		lose(0).job(502, "redis-lost", "failed");
		lose(1).report();
		own.redis().kill();
		await().until(() -> this.service.get("/actuator/health/readiness").status() == 503);
		own.redis().restart();
		this.service.connect();
	}

	private Answer lose(int retries) throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 1234, 0);
		CompletableFuture<Answer> upload = this.service
			.sendAsync(this.service.uploading("/v1/jobs?coalesce=off&retries=" + retries, Service.NDJSON,
					Lines.of(20_000, (i) -> "[\"SET\",\"k" + i + "\",\"1\"]")));
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		own.redis().client().clientKill(KillArgs.Builder.typeNormal().skipme());
		link.reset();
		return upload.get(60, TimeUnit.SECONDS);
	}

	/** The selectors and labels of an expression that no sample has. */
	private static List<String> missing(String expression, List<Sample> scrape) {
		List<String> missing = new ArrayList<>();
		Set<String> labels = new HashSet<>(TARGET);
		for (Selector selector : selectors(expression)) {
			List<Sample> found = scrape.stream().filter(selector).toList();
			if (found.isEmpty()) {
				missing.add(selector.toString());
			}
			found.forEach((sample) -> labels.addAll(sample.labels.keySet()));
		}
		grouped(expression).stream().filter((label) -> !labels.contains(label)).forEach(missing::add);
		return missing;
	}

	/** The labels of an expression's result, as far as its text tells. */
	private static Set<String> kept(String expression) {
		return (expression.contains(" by ")) ? grouped(expression) : TARGET;
	}

	private static Set<String> grouped(String expression) {
		Set<String> labels = new HashSet<>();
		names(expression, GROUPING.pattern()).forEach((list) -> labels.addAll(List.of(list.split("\\s*,\\s*"))));
		return labels;
	}

	private static List<Selector> selectors(String expression) {
		String text = GROUPING.matcher(expression.replaceAll("\\[[^]]*]", "")).replaceAll("");
		List<Selector> selectors = new ArrayList<>();
		Matcher selector = SELECTOR.matcher(text);
		while (selector.find()) {
			if (!NOT_SCRAPED.contains(selector.group(1))) {
				selectors.add(new Selector(selector.group(1), String.valueOf(selector.group(2))));
			}
		}
		return selectors;
	}

	private static Stream<String> names(String text, String pattern) {
		return Pattern.compile(pattern).matcher(text).results().map((result) -> result.group(1));
	}

	private static List<String> dashboard() throws IOException {
		List<String> expressions = new ArrayList<>();
		targets().forEach((target) -> expressions.add(target.get("expr").asString()));
		for (JsonNode variable : json().at("/templating/list")) {
			Matcher values = Pattern.compile("label_values\\((\\w+), (\\w+)\\)")
				.matcher(variable.path("definition").asString(""));
			if (values.matches()) {
				expressions.add("sum by (" + values.group(2) + ") (" + values.group(1) + ")");
			}
		}
		return expressions;
	}

	/** The answers that the page on metrics has. */
	private static List<String> questions() throws IOException {
		List<String> questions = Pattern.compile("```promql\\n(.*?)\\n```", Pattern.DOTALL)
			.matcher(Files.readString(Path.of("docs", "metrics.md")))
			.results()
			.map((block) -> block.group(1))
			.toList();
		assertThat(questions).hasSizeGreaterThanOrEqualTo(10);
		return questions;
	}

	private static List<JsonNode> targets() throws IOException {
		return json().get("panels").valueStream().flatMap((panel) -> panel.path("targets").valueStream()).toList();
	}

	private static JsonNode json() throws IOException {
		return JsonMapper.shared()
			.readTree(Files.readString(Path.of("deploy", "grafana", "dashboards", "pipeset.json")));
	}

	private static List<String> alerts() throws IOException {
		return rules().stream().map((rule) -> String.valueOf(rule.get("expr"))).toList();
	}

	/**
	 * The queries of the Prometheus adapter, whose variables are labels of the target.
	 */
	private static List<String> autoscaler() throws IOException {
		Map<String, Map<String, List<Map<String, Object>>>> file = new Yaml()
			.load(Files.readString(Path.of("deploy", "prometheus-adapter.yml")));
		return file.get("rules")
			.get("custom")
			.stream()
			.map((rule) -> String.valueOf(rule.get("metricsQuery")).replace("<<.LabelMatchers>>", ""))
			.toList();
	}

	private static List<Map<?, ?>> rules() throws IOException {
		Map<String, List<Map<String, List<Map<?, ?>>>>> file = new Yaml()
			.load(Files.readString(Path.of("deploy", "alerts.yml")));
		return file.values().stream().flatMap(List::stream).flatMap((group) -> group.get("rules").stream()).toList();
	}

	private static double value(List<Sample> scrape, String selector) {
		Selector wanted = selectors(selector).get(0);
		return scrape.stream().filter(wanted).mapToDouble(Sample::value).sum();
	}

	private List<Sample> scrape() {
		return this.service.get("/actuator/prometheus")
			.text()
			.lines()
			.map(SAMPLE::matcher)
			.filter(Matcher::matches)
			.map((sample) -> new Sample(sample.group(1), labels(String.valueOf(sample.group(2))),
					Double.parseDouble(sample.group(3))))
			.toList();
	}

	private static Map<String, String> labels(String text) {
		Map<String, String> labels = new HashMap<>();
		LABEL.matcher(text).results().forEach((label) -> labels.put(label.group(1), label.group(3)));
		return labels;
	}

	private record Sample(String name, Map<String, String> labels, double value) {

	}

	/** A metric with matchers of labels, as PromQL spells them. */
	private record Selector(String name, String matchers) implements Predicate<Sample> {

		@Override
		public boolean test(Sample sample) {
			return sample.name.equals(this.name) && LABEL.matcher(this.matchers)
				.results()
				.allMatch((matcher) -> matches(matcher.group(1), matcher.group(2), matcher.group(3), sample.labels));
		}

		private static boolean matches(String label, String operator, String wanted, Map<String, String> labels) {
			// Grafana fills in its variables.
			if (TARGET.contains(label) || wanted.startsWith("$")) {
				return TARGET.contains(label) || labels.containsKey(label);
			}
			String value = labels.getOrDefault(label, "");
			return switch (operator) {
				case "=" -> value.equals(wanted);
				case "!=" -> !value.equals(wanted);
				case "=~" -> value.matches(wanted);
				default -> !value.matches(wanted);
			};
		}

	}

}
