package io.pipeset.start;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pipeset.input.BodyEncoding;
import io.pipeset.input.Caller;
import io.pipeset.input.UploadedRecords;
import io.pipeset.keep.EndedJob;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobMeters;
import io.pipeset.report.JobReport;
import io.pipeset.request.Client;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.JobSettings;
import io.pipeset.request.ServerOperations;
import io.pipeset.run.JobOwner;
import io.pipeset.run.JobRequest;
import io.pipeset.run.Jobs;
import jakarta.annotation.PreDestroy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Warms the service up between its start and its readiness, by jobs of its own in all
 * formats. Spring Boot reports the service as alive before it calls this runner, and as
 * ready only afterwards. Requests that arrive meanwhile are served.
 */
@Component
@EnableConfigurationProperties(WarmUpProperties.class)
class WarmUp implements ApplicationRunner {

	private static final Logger logger = LoggerFactory.getLogger(WarmUp.class);

	/** Replaces the configured defaults, so that no job waits long for a slow Redis. */
	private static final Map<String, String> SETTINGS = Map.of("timeout", "1s", "retries", "0", "rateLimit",
			"1000000000", "atomic", "none", "flush", "buffered:1000");

	/** The number of keys of each type in a job. */
	private static final int KEYS = 20;

	/** Tests whether Redis allows SET, EXPIRE and DEL. The key expires in any case. */
	private static final String TRIAL = "SET KEY value EX 10\nEXPIRE KEY 10\nDEL KEY\n";

	private static final String CLEANUP = "DEL KEY\nDEL KEY:hash\nDEL KEY:list\n";

	/**
	 * The records for one key. They set an expiry for all that they write, so that it
	 * expires even if the service is killed.
	 */
	private static final String NDJSON = """
			{"op":"SET","key":"KEY","value":"value of KEY","ttl":10}
			{"op":"HSET","key":"KEY:hash","fields":{"name":"value"}}
			["EXPIRE","KEY:hash","10"]
			["LPUSH","KEY:list","value 1","value 2"]
			["EXPIRE","KEY:list","10"]
			{"op":"RPOP","key":"KEY:list"}
			""";

	private static final String CSV = "SET,KEY,value of KEY\nEXPIRE,KEY,10\n";

	private static final String TEXT = "SET KEY \"value of KEY\" EX 10\nHSET KEY:hash name value\nEXPIRE KEY:hash 10\n";

	private static final String RESP = "*5\r\n$3\r\nSET\r\n$LENGTH\r\nKEY\r\n$5\r\nvalue\r\n$2\r\nEX\r\n$2\r\n10\r\n";

	private final WarmUpProperties properties;

	private final Jobs jobs;

	private final JobDefaults defaults;

	private final ServerOperations operations;

	private final JsonMapper mapper;

	private final ApplicationContext context;

	/** The registry is of the same type as that of callers' jobs, not the same one. */
	private final JobOwner owner = new JobOwner(new JobMeters(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)),
			Client.SERVICE, null);

	/** The keys differ from those of other instances that start at the same time. */
	private final String keyPrefix = "pipeset:warm-up:" + UUID.randomUUID() + ":";

	private final CountDownLatch destroyed = new CountDownLatch(1);

	private volatile boolean closing;

	WarmUp(WarmUpProperties properties, Jobs jobs, JobDefaults defaults, ServerOperations operations, JsonMapper mapper,
			ApplicationContext context) {
		this.properties = properties;
		this.jobs = jobs;
		this.defaults = defaults;
		this.operations = operations;
		this.mapper = mapper;
		this.context = context;
	}

	@Override
	public void run(ApplicationArguments arguments) throws InterruptedException {
		if (this.properties.enabled() && !this.properties.time().isZero()) {
			try {
				warmUp();
			}
			catch (RuntimeException ex) {
				// A cold service is better than a failed start.
				logger.info("The warm-up failed or ended early: {}", ex.toString());
			}
		}
		if (this.closing) {
			// Waits for the end of the shutdown, because Boot would report the service as
			// ready after this method returns.
			this.destroyed.await();
		}
	}

	/** Ends the warm-up with the job that runs. */
	@EventListener
	void stopWarmUp(ContextClosedEvent event) {
		this.closing |= event.getApplicationContext() == this.context;
	}

	@PreDestroy
	void markDestroyed() {
		this.destroyed.countDown();
	}

	private void warmUp() {
		long began = System.nanoTime();
		EndedJob<JobReport> trial = run(RecordFormat.TEXT, body(TRIAL, 1), false);
		if (trial.ending().cause() != Cause.COMPLETED) {
			logger.info("No warm-up: {}", trial.ending().detail());
			return;
		}
		boolean allowed = trial.report().errorCount() == 0;
		long deadline = System.nanoTime() + this.properties.time().toNanos();
		List<RecordFormat> formats = List.of(RecordFormat.values());
		int jobs = 0;
		while (!this.closing && System.nanoTime() - deadline < 0) {
			RecordFormat format = formats.get(jobs % formats.size());
			run(format, body(format), !allowed);
			jobs++;
		}
		if (allowed) {
			run(RecordFormat.TEXT, body(CLEANUP, KEYS), false);
		}
		logger.info("Warmed up in {} ms with {} jobs{}", Duration.ofNanos(System.nanoTime() - began).toMillis(), jobs,
				(allowed) ? "" : ", none of which went to Redis: it refuses SET, EXPIRE or DEL of keys under pipeset:");
	}

	/** Runs a job, and writes its report like that of a request. */
	EndedJob<JobReport> run(RecordFormat format, String body, boolean dryRun) {
		Map<String, String> query = new HashMap<>(SETTINGS);
		query.put("dryRun", String.valueOf(dryRun));
		JobSettings settings = this.defaults.toSettings().with(query::get, "/v1/jobs", null, this.operations);
		byte[] bytes = body.getBytes(StandardCharsets.US_ASCII);
		EndedJob<JobReport> job = this.jobs.run(
				new JobRequest(this.owner,
						new UploadedRecords(new ByteArrayInputStream(bytes), bytes.length, BodyEncoding.IDENTITY,
								format, StandardCharsets.UTF_8, null),
						settings, JobRequest.Values.IN_ITEMS),
				Caller.SERVICE);
		this.mapper.writeValueAsBytes(job.report());
		job.memory().close();
		return job;
	}

	/** The records of a usual job. */
	String body(RecordFormat format) {
		return switch (format) {
			case NDJSON -> body(NDJSON, KEYS);
			case JSON -> "[" + body(NDJSON, KEYS).strip().replace("\n", ",") + "]";
			case CSV -> "op,key,arg1\n" + body(CSV, KEYS);
			case TSV -> body(RecordFormat.CSV).replace(",", "\t");
			case TEXT -> body(TEXT, KEYS);
			case RESP -> body(RESP, KEYS);
		};
	}

	/** Repeats records, each time with another key. */
	private String body(String records, int keys) {
		return IntStream.range(0, keys)
			.mapToObj((i) -> this.keyPrefix + i)
			.map((key) -> records.replace("LENGTH", String.valueOf(key.length())).replace("KEY", key))
			.collect(Collectors.joining());
	}

}
