package io.pipeset.benchmark.cases;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

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

	private final Path work;

	private final Path jar;

	private final Jvm jvm;

	private final int runs;

	private final boolean patient;

	private final Console console;

	private final Figures figures = new Figures();

	private final RedisServer redis = RedisServer.start();

	private final Meter meter = new Meter(this.redis.pid());

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
		return start(name, jvm, this.jar, address, arguments);
	}

	/** Another build of the service, to be closed by the caller. */
	JavaServer start(String name, Jvm jvm, Path jar, Address address, String... arguments) {
		List<String> program = new ArrayList<>(List.of("-jar", jar.toString()));
		program.addAll(List.of(arguments));
		return startWarm(new Launch(name, jvm, program, address.toSpring()));
	}

	/** Starts a service, and gives it time to compile its hot code. */
	JavaServer startWarm(Launch launch) {
		JavaServer service = launch(launch);
		for (int i = 0; i < WARM_UP_JOBS; i++) {
			this.caller.post(List.of(service.uri("/pipeset/" + WARM_UP_RECORDS)));
		}
		this.redis.flush();
		return service;
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

	/** An upload of a dataset to the service. */
	Contender upload(Dataset dataset, Form form, JavaServer service) {
		return upload(dataset, form, service, "");
	}

	/** An upload with settings of its own. */
	Contender upload(Dataset dataset, Form form, JavaServer service, String query) {
		Path file = dataset.file(form);
		return new Contender(form.name().toLowerCase(Locale.ROOT), "Pipeset, " + form, service,
				() -> this.caller.post(service.uri("/v1/jobs?" + query), file, form));
	}

	/** A call that makes the service generate its records. */
	Contender generated(long records, JavaServer service) {
		return new Contender("generated", "Pipeset, generated", service,
				() -> this.caller.post(List.of(service.uri("/pipeset/" + records))));
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
		this.figures.add(race, race.run(this.meter, new Race.Rounds(warmUps, this.runs, this.patient), this.console));
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
