package io.pipeset.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The documentation names every meter of jobs and batches. */
class JobMetersTests {

	private static final Pattern METER = Pattern.compile("`(pipeset\\.[a-z.]+)`");

	@Test
	void everyMeterIsDocumented() throws IOException {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		JobMeters meters = new JobMeters(registry);
		Account account = new Account(Results.ERRORS, 10, false);
		account.count("SET", Outcome.APPLIED, 1);
		meters.startJob("SET").stop();
		meters.batch("each", 1, 1, 1);
		meters.retry("CONNECTION_LOST");
		meters.node("redis:6379").redirected("moved");
		meters.jobEnds(JobState.COMPLETED, account, new JobClock());
		Set<String> names = new TreeSet<>();
		registry.getMeters()
			.stream()
			.filter((meter) -> meter.getId().syntheticAssociation() == null)
			.forEach((meter) -> names.add(meter.getId().getName()));
		assertThat(names).hasSizeGreaterThan(6);
		assertThat(documented()).containsAll(names);
	}

	@Test
	void recordsAreCountedOnceHoweverOftenMetersAreUpdated() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		JobMeters meters = new JobMeters(registry);
		Account account = new Account(Results.ERRORS, 10, false);
		account.count("SET", Outcome.APPLIED, 5);
		account.sent(3, 100, 5);
		meters.grow(account);
		assertThat(commands(registry, "applied")).isEqualTo(5);
		meters.grow(account);
		account.count("SET", Outcome.APPLIED, 2);
		account.count("SET", Outcome.REJECTED, 1);
		account.sent(1, 100, 3);
		meters.grow(account);
		meters.jobEnds(JobState.COMPLETED, account, new JobClock());
		assertThat(commands(registry, "applied")).isEqualTo(7);
		assertThat(commands(registry, "rejected")).isOne();
		assertThat(registry.get("pipeset.commands").counter().count()).isEqualTo(4);
	}

	/** A counter that is created with its first unknown record would show no increase. */
	@Test
	void anOperationsCountersOfAllOutcomesBeginAtZero() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		Account account = new Account(Results.ERRORS, 10, false);
		account.count("SET", Outcome.APPLIED, 5);
		new JobMeters(registry).grow(account);
		for (Outcome outcome : Outcome.values()) {
			assertThat(commands(registry, outcome.label())).isEqualTo((outcome == Outcome.APPLIED) ? 5 : 0);
		}
	}

	private static double commands(SimpleMeterRegistry registry, String outcome) {
		return registry.get("pipeset.records").tags("op", "SET", "outcome", outcome).counter().count();
	}

	@Test
	void serversBeyondTheLimitShareATag() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		JobMeters meters = new JobMeters(registry);
		for (int i = 0; i < 100; i++) {
			meters.node("redis:" + i).batch(1, true);
			meters.node("redis:" + i).batch(1, true);
		}
		assertThat(registry.get("pipeset.node.losses").counters()).hasSize(65);
		assertThat(registry.get("pipeset.node.losses").tag("node", "redis:63").counter().count()).isEqualTo(2);
		assertThat(registry.get("pipeset.node.losses").tag("node", "other").counter().count()).isEqualTo(72);
	}

	@Test
	void theConnectionsOfAServerAreThoseOfItsBatches() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		NodeMeters node = new JobMeters(registry).node("redis:6379");
		node.connected();
		node.connected();
		node.disconnected();
		assertThat(registry.get("pipeset.node.connections").tag("node", "redis:6379").gauge().value()).isOne();
	}

	private static Set<String> documented() throws IOException {
		Set<String> names = new TreeSet<>();
		for (String line : Files.readAllLines(Path.of("docs", "metrics.md"))) {
			Matcher meter = METER.matcher(line);
			while (line.startsWith("| `pipeset.") && meter.find()) {
				names.add(meter.group(1));
			}
		}
		return names;
	}

}
