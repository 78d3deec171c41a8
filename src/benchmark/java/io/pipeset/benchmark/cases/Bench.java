package io.pipeset.benchmark.cases;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToLongFunction;

import io.pipeset.benchmark.data.Caller;
import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.measure.Meter;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.process.Address;
import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.Jvm;
import io.pipeset.benchmark.process.Launch;
import io.pipeset.benchmark.process.Program;
import io.pipeset.benchmark.process.RedisServer;
import io.pipeset.benchmark.report.Console;
import io.pipeset.benchmark.report.Figures;

/** The means of every case: the Redis, the service and the usual contenders. */
public final class Bench implements AutoCloseable {

	/** The number of runs after which a service gets no faster. */
	private static final int WARM_UPS = 3;

	private static final int WARM_UP_JOBS = 6;

	private static final long WARM_UP_RECORDS = 1_000_000;

	/** The values of {@code coalesce}: the service races in both ways. */
	static final List<String> COALESCE = List.of("off", "auto");

	private final Path work;

	private final Path jar;

	private final Jvm jvm;

	private final int runs;

	private final boolean patient;

	private final Console console;

	private final Figures figures = new Figures();

	private final RedisServer redis = RedisServer.start();

	private final Meter meter = new Meter(List.of(this.redis.pid()));

	private final Optional<Program> redisCli = Program.find("redis-cli");

	private final Caller caller;

	private JavaServer pipeset;

	/**
	 * Starts a Redis.
	 * @param work the directory of all files
	 * @param jar the packaged service
	 * @param jvm the JVM that runs the service
	 * @param runs the runs that count
	 * @param patient whether the slowest run as often as all
	 * @param console hears of the progress
	 */
	public Bench(Path work, Path jar, Jvm jvm, int runs, boolean patient, Console console) {
		this.work = work;
		this.jar = jar;
		this.jvm = jvm;
		this.runs = runs;
		this.patient = patient;
		this.console = console;
		this.caller = new Caller(work.resolve("answers"));
	}

	public RedisServer redis() {
		return this.redis;
	}

	public Jvm jvm() {
		return this.jvm;
	}

	public int runs() {
		return this.runs;
	}

	public Console console() {
		return this.console;
	}

	public Figures figures() {
		return this.figures;
	}

	public Caller caller() {
		return this.caller;
	}

	Meter meter() {
		return this.meter;
	}

	Path jar() {
		return this.jar;
	}

	Path work() {
		return this.work;
	}

	/** The service with the container's flags, near its Redis. It is started once. */
	JavaServer pipeset() {
		if (this.pipeset == null) {
			this.pipeset = start("pipeset", this.jvm, this.redis.address());
		}
		return this.pipeset;
	}

	/** The service with other settings, to be closed by the caller. */
	JavaServer start(String name, Jvm jvm, Address address, String... arguments) {
		List<String> program = new ArrayList<>(List.of("-jar", this.jar.toString()));
		program.addAll(List.of(arguments));
		return startWarm(new Launch(name, jvm, program, address.toSpring()));
	}

	/** Starts the service, and gives it time to compile the hot code of both ways. */
	JavaServer startWarm(Launch launch) {
		return startWarm(launch, COALESCE.stream().map((coalesce) -> "?coalesce=" + coalesce).toList());
	}

	/** Another build, which may not know the settings of this one. */
	JavaServer startOther(Path otherJar) {
		return startWarm(new Launch("pipeset-other", this.jvm, List.of("-jar", otherJar.toString()),
				this.redis.address().toSpring()), List.of(""));
	}

	private JavaServer startWarm(Launch launch, List<String> queries) {
		JavaServer service = launch(launch);
		for (int i = 0; i < WARM_UP_JOBS; i++) {
			for (String query : queries) {
				this.caller.post(List.of(service.uri("/pipeset/" + WARM_UP_RECORDS + query)));
			}
		}
		this.redis.flush();
		return service;
	}

	/** The service as it is right after its start, to be closed by the caller. */
	JavaServer startFresh() {
		return launch(new Launch("pipeset-fresh", this.jvm, List.of("-jar", this.jar.toString()),
				this.redis.address().toSpring()));
	}

	JavaServer launch(Launch launch) {
		this.console.progress("start " + launch.name());
		return JavaServer.start(launch, this.work.resolve("logs"));
	}

	Dataset dataset(String name, Shape shape, long records) {
		this.console.progress("prepare " + name + ": " + records + " commands");
		return new Dataset(this.work.resolve("data"), name, shape, records);
	}

	/** {@code redis-cli --pipe} of a dataset's commands. */
	Contender redisCli(Dataset dataset, Address address) {
		String name = "redis-cli --pipe";
		if (this.redisCli.isEmpty()) {
			return Contender.missing("redis-cli", name);
		}
		Path file = dataset.file(Form.RESP);
		return new Contender("redis-cli", name, null, () -> RedisServer.pipe(this.redisCli.get(), address, file));
	}

	/** {@code redis-cli}, and uploads to the service in each form and in both ways. */
	List<Contender> uploads(Dataset dataset, Address address, JavaServer service, Form... forms) {
		List<Contender> contenders = new ArrayList<>(List.of(redisCli(dataset, address)));
		for (Form form : forms) {
			contenders.addAll(uploads(dataset, service, form));
		}
		return contenders;
	}

	/** Uploads of a dataset to the service, in both ways. */
	List<Contender> uploads(Dataset dataset, JavaServer service, Form form) {
		Path file = dataset.file(form);
		return bothWays(form.name().toLowerCase(Locale.ROOT), form.name(), service,
				(query) -> this.caller.post(service.uri("/v1/jobs?" + query), file, form));
	}

	/** An upload with settings of its own. */
	Contender upload(Dataset dataset, Form form, JavaServer service, String query) {
		Path file = dataset.file(form);
		return new Contender(form.name().toLowerCase(Locale.ROOT), "Pipeset, " + form, service,
				() -> this.caller.post(service.uri("/v1/jobs?" + query), file, form));
	}

	/** Calls that make the service generate its records, in both ways. */
	List<Contender> generated(long records, JavaServer service) {
		return bothWays("generated", "generated", service,
				(query) -> this.caller.post(List.of(service.uri("/pipeset/" + records + "?" + query))));
	}

	/** The service without and with common commands for neighbouring records. */
	List<Contender> bothWays(String id, String name, JavaServer service, ToLongFunction<String> attempt) {
		return COALESCE.stream()
			.map((coalesce) -> new Contender(id + "-" + coalesce, "Pipeset, " + name + ", coalesce=" + coalesce,
					service, () -> attempt.applyAsLong("coalesce=" + coalesce)))
			.toList();
	}

	/** Runs a race into an empty database. */
	void raceEmpty(String key, String title, long records, List<Contender> contenders) {
		raceEmpty(key, title, records, contenders, WARM_UPS);
	}

	/** Runs a race into an empty database, by services that are nearly warm already. */
	void raceEmpty(String key, String title, long records, List<Contender> contenders, int warmUps) {
		run(new Race(key, title, records, this.redis::flush, () -> requireSize(records), contenders), warmUps);
	}

	/**
	 * Runs a race over the same keys, after the same contenders' race into an empty
	 * database.
	 */
	void raceOverwriting(String key, String title, long records, List<Contender> contenders) {
		run(new Race(key, title, records, () -> {
		}, () -> requireSize(records), contenders), 1);
	}

	/** Runs a race and keeps its figures. */
	void run(Race race) {
		run(race, WARM_UPS);
	}

	/** Runs a race with more warm-up, and keeps its figures. */
	void run(Race race, int warmUps) {
		run(race, this.meter, warmUps);
	}

	/** Runs a race of other servers than the usual one, and keeps its figures. */
	void run(Race race, Meter meter, int warmUps) {
		this.figures.add(race, race.run(meter, new Race.Rounds(warmUps, this.runs, this.patient), this.console));
	}

	/** Fails if Redis has another number of keys. */
	void requireSize(long expected) {
		long size = this.redis.size();
		if (size != expected) {
			throw new BenchmarkException("Redis has " + size + " keys instead of " + expected);
		}
	}

	/** Ends the service, for cases that need the machine for another one. */
	void stopPipeset() {
		if (this.pipeset != null) {
			this.pipeset.close();
			this.pipeset = null;
		}
	}

	@Override
	public void close() {
		stopPipeset();
		this.redis.close();
	}

}
