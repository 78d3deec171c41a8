package io.pipeset.web.operator;

import java.io.File;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;

import static org.awaitility.Awaitility.await;

/** A Prometheus that scrapes a service each second. */
final class Prometheus implements AutoCloseable {

	private static final String PROGRAM = "prometheus";

	private final Process process;

	private final Service api;

	private Prometheus(Process process, int port) {
		this.process = process;
		this.api = new Service(port);
	}

	/** Whether this machine has one. */
	static boolean isFound() {
		return Stream.of(System.getenv("PATH").split(File.pathSeparator))
			.anyMatch((folder) -> Files.isExecutable(Path.of(folder, PROGRAM)));
	}

	static Prometheus start(Path folder, Service scraped) throws IOException {
		Path config = Files.writeString(folder.resolve("prometheus.yml"), """
				global: {scrape_interval: 1s}
				scrape_configs:
				  - job_name: pipeset
				    metrics_path: /actuator/prometheus
				    static_configs: [{targets: ["127.0.0.1:%d"]}]
				""".formatted(scraped.port()));
		int port = TestRedis.freePort();
		Process process = new ProcessBuilder(PROGRAM, "--config.file=" + config,
				"--storage.tsdb.path=" + folder.resolve("data"), "--web.listen-address=127.0.0.1:" + port)
			.redirectErrorStream(true)
			.redirectOutput(folder.resolve("prometheus.log").toFile())
			.start();
		Prometheus prometheus = new Prometheus(process, port);
		await().ignoreExceptions().until(() -> prometheus.api.get("/-/ready").status() == 200);
		return prometheus;
	}

	/**
	 * The values of an expression now.
	 * @return none while there are no samples for it
	 */
	List<Double> query(String expression) {
		Answer answer = this.api.get("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8));
		return answer.json()
			.at("/data/result")
			.valueStream()
			.map((sample) -> Double.valueOf(sample.at("/value/1").asString().replace("Inf", "Infinity")))
			.toList();
	}

	@Override
	public void close() {
		this.process.destroyForcibly().onExit().join();
	}

}
