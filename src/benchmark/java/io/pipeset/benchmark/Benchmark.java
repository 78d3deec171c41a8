package io.pipeset.benchmark;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.pipeset.benchmark.cases.AnalysesCase;
import io.pipeset.benchmark.cases.AsyncCase;
import io.pipeset.benchmark.cases.Bench;
import io.pipeset.benchmark.cases.BenchmarkCase;
import io.pipeset.benchmark.cases.ClusterCase;
import io.pipeset.benchmark.cases.DefaultsCase;
import io.pipeset.benchmark.cases.EmbeddingsCase;
import io.pipeset.benchmark.cases.FarCase;
import io.pipeset.benchmark.cases.FirstSecondsCase;
import io.pipeset.benchmark.cases.FormatsCase;
import io.pipeset.benchmark.cases.GainsCase;
import io.pipeset.benchmark.cases.Grid;
import io.pipeset.benchmark.cases.HashCase;
import io.pipeset.benchmark.cases.JvmCase;
import io.pipeset.benchmark.cases.LatencyCase;
import io.pipeset.benchmark.cases.LongCase;
import io.pipeset.benchmark.cases.OtherJarCase;
import io.pipeset.benchmark.cases.PopCase;
import io.pipeset.benchmark.cases.PushCase;
import io.pipeset.benchmark.cases.QueriesCase;
import io.pipeset.benchmark.cases.RivalsCase;
import io.pipeset.benchmark.cases.SetCase;
import io.pipeset.benchmark.cases.SmallJobsCase;
import io.pipeset.benchmark.cases.SweepCase;
import io.pipeset.benchmark.cases.TuningCase;
import io.pipeset.benchmark.cases.ValuesCase;
import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.report.Chart;
import io.pipeset.benchmark.report.Console;
import io.pipeset.benchmark.report.Document;
import io.pipeset.benchmark.report.Figures;
import io.pipeset.benchmark.report.Machine;
import io.pipeset.benchmark.report.Table;
import io.pipeset.benchmark.report.Target;
import io.pipeset.benchmark.report.Versions;

/** Runs the cases that were asked for, shows their figures and writes them down. */
public final class Benchmark {

	private static final List<String> FULL = List.of("set", "formats", "rivals", "hset", "push", "rpop", "sweep",
			"values", "embeddings", "queries", "analyses", "cluster", "small", "start", "far");

	private static final String LONG = "long";

	private static final String OTHER = "other";

	private static final String DEFAULTS = "defaults";

	private static final String JVM = "jvm";

	private static final String GAINS = "gains";

	private static final String TUNING = "tuning";

	private static final String LATENCY = "latency";

	private final Options options;

	private final Console console = new Console();

	private Benchmark(Options options) {
		this.options = options;
	}

	/**
	 * Runs the benchmark.
	 * @param args none: everything is a system property
	 */
	public static void main(String[] args) {
		new Benchmark(Options.fromSystemProperties()).run();
		// Threads of the proxy and of clients may linger.
		System.exit(0);
	}

	private void run() {
		Map<String, BenchmarkCase> cases = chosen();
		List<Table> setting;
		Figures figures;
		try (Bench bench = new Bench(this.options.work(), this.options.jar(), this.options.jvm(), this.options.runs(),
				this.options.longRun(), this.console)) {
			setting = List.of(Machine.describe(), Versions.describe(this.options.jar(), this.options.jvm(),
					bench.redis().version(), bench.caller().name()));
			cases.forEach((name, benchmarkCase) -> benchmarkCase.run(bench));
			figures = bench.figures();
		}
		show(setting);
		show(figures.tables());
		boolean targets = cases.keySet()
			.stream()
			.anyMatch((name) -> FULL.contains(name) || name.equals(LONG) || name.equals(OTHER));
		if (targets) {
			show(List.of(Target.judge(figures)));
		}
		write(cases, setting, figures, targets);
		this.console.progress("done");
	}

	private Map<String, BenchmarkCase> chosen() {
		Path otherJar = this.options.otherJar();
		Map<String, BenchmarkCase> all = new LinkedHashMap<>();
		all.put("set", new SetCase());
		all.put("formats", new FormatsCase());
		all.put("rivals", new RivalsCase());
		all.put("hset", new HashCase());
		all.put("push", new PushCase());
		all.put("rpop", new PopCase());
		all.put("sweep", new SweepCase());
		all.put("values", new ValuesCase());
		all.put("async", new AsyncCase());
		all.put("embeddings", new EmbeddingsCase());
		all.put("queries", new QueriesCase());
		all.put("analyses", new AnalysesCase());
		all.put("cluster", new ClusterCase());
		all.put("small", new SmallJobsCase(otherJar));
		all.put("start", new FirstSecondsCase());
		all.put("far", new FarCase());
		all.put(GAINS, new GainsCase());
		all.put(LONG, new LongCase());
		all.put(DEFAULTS, new DefaultsCase(new Grid(this.options.grid())));
		all.put(JVM, new JvmCase(this.options.javas()));
		all.put(TUNING, new TuningCase());
		all.put(LATENCY, new LatencyCase());
		if (otherJar != null) {
			all.put(OTHER, new OtherJarCase(otherJar));
		}
		List<String> wanted = new ArrayList<>((this.options.cases().isEmpty()) ? FULL : this.options.cases());
		if (this.options.cases().isEmpty() && this.options.longRun()) {
			wanted.add(LONG);
		}
		if (this.options.cases().isEmpty() && otherJar != null) {
			wanted.add(OTHER);
		}
		if (!all.keySet().containsAll(wanted)) {
			throw new BenchmarkException("The cases are " + all.keySet() + ", not " + wanted);
		}
		all.keySet().retainAll(wanted);
		return all;
	}

	private void show(List<Table> tables) {
		for (Table table : tables) {
			this.console.say("\n" + table.title() + "\n\n" + table.toMarkdown());
		}
	}

	private void write(Map<String, BenchmarkCase> cases, List<Table> setting, Figures figures, boolean targets) {
		Path folder = (this.options.isFull() || this.options.docs()) ? Path.of("docs", "benchmarks")
				: this.options.work();
		String name = (this.options.isFull()) ? "full" : String.join("-", cases.keySet());
		List<Table> tables = new ArrayList<>(setting);
		if (targets) {
			tables.add(0, Target.judge(figures));
		}
		tables.addAll(figures.tables());
		if (cases.containsKey("rivals")) {
			Document.write(folder.resolve(name + ".svg"), chart(figures).toSvg());
		}
		if (cases.get(TUNING) instanceof TuningCase tuning) {
			Document.write(folder.resolve("tuning.svg"), tuning.chart().toSvg());
		}
		if (cases.get(LATENCY) instanceof LatencyCase latency) {
			Document.write(folder.resolve("latency.svg"), latency.chart().toSvg());
		}
		Path file = folder.resolve(name + ".txt");
		new Document((this.options.isFull()) ? "Benchmarks" : "Benchmarks: " + String.join(", ", cases.keySet()),
				this.options.command(), tables)
			.write(file);
		this.console.progress("wrote " + file);
	}

	private Chart chart(Figures figures) {
		List<Chart.Bar> bars = Stream
			.of(bar(figures, "redis-cli", "redis-cli --pipe", false),
					bar(figures, "generated-off", "Pipeset, coalesce=off", true),
					bar(figures, "generated-auto", "Pipeset, coalesce=auto", true),
					bar(figures, "jedis", "Jedis pipeline", false), bar(figures, "python", "redis-py pipeline", false),
					bar(figures, "stock-close", "executePipelined, flush close", false),
					bar(figures, "stock-buffered", "executePipelined, buffered", false),
					bar(figures, "stock-each", "executePipelined, flush each", false),
					bar(figures, "first-try", "first try, Boot's defaults", false))
			.filter((bar) -> !Double.isNaN(bar.value()))
			.sorted(Comparator.comparingDouble(Chart.Bar::value))
			.toList();
		return new Chart("Seconds for 1,000,000 SETs (shorter is better)",
				"Into an empty Redis on the same machine, " + Runtime.getRuntime().availableProcessors()
						+ " cores, median of " + this.options.runs()
						+ " runs; with coalesce=auto, neighbouring records share a command",
				"s", bars);
	}

	private static Chart.Bar bar(Figures figures, String contender, String label, boolean highlighted) {
		return new Chart.Bar(label, figures.get(RivalsCase.KEY + "/" + contender + "/seconds"), highlighted);
	}

}
