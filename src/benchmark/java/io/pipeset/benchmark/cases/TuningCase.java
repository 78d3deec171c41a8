package io.pipeset.benchmark.cases;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.process.Address;
import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.DelayProxy;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.report.Chart;
import io.pipeset.benchmark.report.Figures;
import io.pipeset.benchmark.report.Table;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tunings near Redis and 5 ms away, and a race of the recommended settings against the
 * fastest row of the grid and the default settings.
 */
public final class TuningCase implements BenchmarkCase {

	private static final int RECORDS = 100_000;

	private static final int AWAY_MILLIS = 5;

	private static final int WARM_UPS = 2;

	private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private @Nullable JsonNode near;

	@Override
	public void run(Bench bench) {
		this.near = measure(bench, "near", "near", bench.pipeset());
		bench.stopPipeset();
		try (DelayProxy proxy = DelayProxy.open(bench.redis().address().port())) {
			Address address = bench.redis().address().through(proxy.port());
			try (JavaServer far = bench.start("pipeset-far", bench.jvm(), address)) {
				proxy.roundTrip(AWAY_MILLIS);
				measure(bench, "far", AWAY_MILLIS + " ms away", far);
			}
		}
	}

	/**
	 * The rows of the tuning near Redis as a chart.
	 * @return the chart, once the case has run
	 */
	public Chart chart() {
		JsonNode tuning = this.near;
		if (tuning == null) {
			throw new BenchmarkException("The tuning has not run");
		}
		String recommended = settings(tuning.get("recommended"));
		List<Chart.Bar> bars = new ArrayList<>();
		for (JsonNode row : measured(tuning)) {
			bars.add(new Chart.Bar(settings(row).replace('&', ' '), seconds(row), settings(row).equals(recommended)));
		}
		List<String> others = new ArrayList<>();
		for (JsonNode baseline : tuning.get("baselines")) {
			others.add(baseline.get("how").asString() + ": "
					+ Figures.number(baseline.path("recordsPerSecond").asDouble(Double.NaN), 0));
		}
		return new Chart("A tuning: seconds for " + Figures.number(RECORDS, 0) + " SETs (shorter is better)",
				"Redis on the same machine; red is recommended. In records per second, " + String.join("; ", others), "s",
				bars);
	}

	private JsonNode measure(Bench bench, String key, String title, JavaServer service) {
		bench.console().progress("tuning, " + title);
		JsonNode tuning = post(
				service.uri("/v1/tunings?budget=10m&records=" + RECORDS + "&runs=" + Math.min(10, bench.runs())));
		bench.requireSize(0);
		bench.figures().add(table(title, tuning));
		String recommended = settings(tuning.get("recommended"));
		String fastest = settings(measured(tuning).get(0));
		List<Contender> contenders = List.of(
				contender(bench, service, "fastest", "fastest of the grid: " + fastest.replace('&', ' '), fastest),
				contender(bench, service, "recommended", "recommended: " + recommended.replace('&', ' '), recommended),
				contender(bench, service, "defaults", "defaults", ""));
		bench.run(new Race("tuning/" + key, "Check of the recommendation: " + Figures.number(RECORDS, 0)
				+ " SETs with an expiry over the same keys, " + title, RECORDS, () -> {
				}, () -> bench.requireSize(RECORDS), contenders), WARM_UPS);
		bench.redis().flush();
		return tuning;
	}

	private static Contender contender(Bench bench, JavaServer service, String id, String name, String settings) {
		// The commands of a tuning: SETs that expire, over keys that are there.
		URI uri = service
			.uri("/pipeset/" + RECORDS + "?coalesce=off&ttl=3600" + ((settings.isEmpty()) ? "" : "&" + settings));
		return new Contender(id, name, service, () -> bench.caller().post(List.of(uri)));
	}

	private static Table table(String title, JsonNode tuning) {
		Table table = new Table("Tuning of " + Figures.number(RECORDS, 0) + " SETs, " + title + ", fastest first",
				"settings", "runs", "s", "min – max", "records/s", "p99 of batches ms", "writes", "Redis CPU s");
		for (JsonNode row : measured(tuning)) {
			table.add(settings(row).replace('&', ' '), row.get("runs").asString(), Figures.number(seconds(row), 3),
					Figures.number(row.at("/seconds/min").asDouble(), 3) + " – "
							+ Figures.number(row.at("/seconds/max").asDouble(), 3),
					Figures.number(row.get("recordsPerSecond").asDouble(), 0),
					Figures.number(row.get("batchP99Millis").asDouble(), 1), row.get("writes").asString(),
					Figures.number(row.path("redisCpuSeconds").asDouble(Double.NaN), 3));
		}
		for (JsonNode baseline : tuning.get("baselines")) {
			table.add(baseline.get("how").asString(), baseline.get("runs").asString(), "–", "–",
					Figures.number(baseline.path("recordsPerSecond").asDouble(Double.NaN), 0), "–", "–", "–");
		}
		table.add("recommended: " + settings(tuning.get("recommended")).replace('&', ' '), "–", "–", "–", "–", "–", "–",
				"–");
		return table;
	}

	/** The rows with runs, fastest first. */
	private static List<JsonNode> measured(JsonNode tuning) {
		return tuning.get("rows")
			.valueStream()
			.filter((row) -> row.has("seconds"))
			.sorted(Comparator.comparingDouble(TuningCase::seconds))
			.toList();
	}

	private static double seconds(JsonNode row) {
		return row.at("/seconds/median").asDouble();
	}

	private static String settings(JsonNode choice) {
		return "batchSize=" + choice.get("batchSize").asInt() + "&flush=" + choice.get("flush").asString()
				+ "&concurrency=" + choice.get("concurrency").asInt();
	}

	private JsonNode post(URI uri) {
		try {
			HttpResponse<String> answer = this.client
				.send(HttpRequest.newBuilder(uri).POST(BodyPublishers.noBody()).build(), BodyHandlers.ofString());
			if (answer.statusCode() != 200) {
				throw new BenchmarkException("The answer was " + answer.body());
			}
			return JsonMapper.shared().readTree(answer.body());
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot post to " + uri, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BenchmarkException("Interrupted", ex);
		}
	}

}
