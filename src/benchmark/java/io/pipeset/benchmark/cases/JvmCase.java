package io.pipeset.benchmark.cases;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Load;
import io.pipeset.benchmark.measure.LoadRuns;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.measure.Sample;
import io.pipeset.benchmark.measure.Samples;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.Jvm;
import io.pipeset.benchmark.process.Launch;
import io.pipeset.benchmark.report.Figures;
import io.pipeset.benchmark.report.Table;

/** Collectors, heaps, transports and Javas, over one large upload and many small jobs. */
public final class JvmCase implements BenchmarkCase {

	private static final int JOB = 100;

	private static final int CALLERS = 16;

	private static final int WARM_UPS = 3;

	private final List<Path> javas;

	/**
	 * Names further Javas.
	 * @param javas their executables
	 */
	public JvmCase(List<Path> javas) {
		this.javas = javas;
	}

	@Override
	public void run(Bench bench) {
		bench.stopPipeset();
		Table table = new Table("JVM settings: 1M SETs as NDJSON, and jobs of 100 from 16 callers", "",
				"s with coalesce=off", "ratio to redis-cli", "s with auto", "ratio to redis-cli", "service CPU s/M",
				"bytes/record", "GC pauses", "longest ms", "peak RSS MB", "small jobs/s", "p50 ms", "p99 ms",
				"peak RSS MB");
		Jvm given = bench.jvm();
		List<JvmSettings> all = Stream
			.concat(Stream.of(given), this.javas.stream().map((java) -> new Jvm(java, given.flags())))
			.flatMap((jvm) -> JvmSettings.of(jvm).stream())
			.toList();
		try (Dataset data = bench.dataset("jvm", new Shape.Set(13), SetCase.RECORDS)) {
			for (JvmSettings settings : all) {
				measure(bench, settings, data, table);
			}
		}
		bench.figures().add(table);
	}

	private static void measure(Bench bench, JvmSettings settings, Dataset data, Table table) {
		Launch launch = new Launch("pipeset-jvm", settings.jvm(), settings.program(bench.jar()),
				bench.redis().address().toSpring());
		try (JavaServer service = bench.startWarm(launch)) {
			long records = data.records();
			Race race = new Race("jvm", settings.name(), records, bench.redis()::flush,
					() -> bench.requireSize(records),
					bench.uploads(data, bench.redis().address(), service, Form.NDJSON));
			List<Samples> results = race.run(bench.meter(), new Race.Rounds(WARM_UPS, bench.runs(), true),
					bench.console());
			Load load = new Load(service, "/pipeset/" + JOB, JOB, CALLERS, 2);
			LoadRuns runs = new LoadRuns("pipeset", settings.name());
			bench.redis().flush();
			load.warmUp(bench.redis().pid());
			for (int run = 0; run < bench.runs(); run++) {
				runs.results().add(load.run(bench.redis().pid()));
			}
			bench.requireSize(JOB);
			add(table, settings.name(), results, runs);
		}
	}

	private static void add(Table table, String name, List<Samples> uploads, LoadRuns load) {
		double rival = uploads.get(0).median(Sample::seconds);
		double off = uploads.get(1).median(Sample::seconds);
		Samples upload = uploads.get(2);
		double auto = upload.median(Sample::seconds);
		table.add(name, Figures.number(off, 2), Figures.number(off / rival, 2), Figures.number(auto, 2),
				Figures.number(auto / rival, 2), Figures.number(upload.perMillion(Sample::serviceCpu), 2),
				Figures.number(upload.median(Sample::allocated) / upload.records(), 1),
				Figures.number(upload.median(Sample::pauses), 0), Figures.number(upload.most(Sample::longestPause), 1),
				Figures.number(upload.most(Sample::peakRss), 0), Figures.number(load.median(Load.Result::rate), 0),
				Figures.number(load.median(Load.Result::p50), 2), Figures.number(load.median(Load.Result::p99), 2),
				Figures.number(load.median(Load.Result::peakRss), 0));
	}

}
