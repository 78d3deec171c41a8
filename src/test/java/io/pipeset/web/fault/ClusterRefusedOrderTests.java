package io.pipeset.web.fault;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A slot on its way answers some records, refuses others, and sends others elsewhere:
 * what is sent again, and in which order, is what {@code docs/reliability.md} says,
 * whether neighbours share a command or not.
 */
// A slow machine takes longer to move a slot than records wait for it by default.
@ServiceTest(properties = "spring.data.redis.timeout=30s")
class ClusterRefusedOrderTests {

	static final TestCluster cluster = TestCluster.shared();

	private final TestRedis from = cluster.master(0);

	private final TestRedis to = cluster.master(1);

	private final Service service;

	/** The keys of a case begin with it, and so have a slot of their own. */
	private String tag = tag(0);

	ClusterRefusedOrderTests(Service service) {
		this.service = service;
	}

	/** The service knows the masters again. */
	@AfterEach
	void reset() {
		cluster.reset();
		await().until(() -> {
			this.service.ndjson("/v1/jobs", "[\"SET\",\"" + tag(0) + "\",0]", "[\"SET\",\"" + tag(1) + "\",0]")
				.report();
			return this.from.client().exists(tag(0)) + this.from.client().exists(tag(1)) == 2;
		});
		cluster.reset();
	}

	/**
	 * Of the lists "here" and "left" the latter is at the next master already, so that
	 * nobody can run what has both. The slot goes all the way once something waits.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			RPUSH here      | DEL here left   | applied applied applied applied     | none
			HSET here       | DEL here left   | rejected rejected applied applied   | none
			RPUSH left      | DEL here left   | applied applied applied applied     | none
			DEL here left   | DEL here left   | applied applied applied applied     | none
			DEL here left   | RPUSH here      | applied applied applied applied     | list
			DEL here left   | DEL here        | applied applied applied applied     | none
			DEL here left   | HSET here       | applied applied applied applied     | hash
			DEL here left   | HSET left       | applied applied applied applied     | none
			DEL here left   | RPUSH left      | applied applied applied applied     | none
			RPUSH none      | HSET none       | applied applied rejected rejected   | list
			HSET none       | DEL none left   | applied applied applied applied     | list
			RPUSH here      | HSET here       | applied applied rejected rejected   | list
			""")
	void whatIsSentAgain(String earlier, String later, String outcomes, String type) throws Exception {
		for (String coalesce : List.of("auto", "off")) {
			this.tag = tag((coalesce.equals("auto")) ? 0 : 1);
			begin();
			JsonNode report = run(coalesce, record(earlier, 1), record(earlier, 2), record(later, 3), record(later, 4));
			assertThat(RefusedOrderTests.outcomes(report)).as(coalesce).isEqualTo(outcomes);
			assertThat(cluster.at(this.tag).type(this.tag + "here")).as(coalesce).isEqualTo(type);
		}
	}

	/** Each of them would have run by itself. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			SET here  | SET left  | RPUSH here | DEL here
			SET left  | SET here  | SET here   | SET left
			DEL here  | DEL left  | HSET here  | HSET left
			SET here  | SET left  | DEL here   | DEL left
			""")
	void noRecordOfOneKeyIsRefusedForItsNeighbours(String one, String two, String three, String four) throws Exception {
		for (String coalesce : List.of("auto", "off")) {
			this.tag = tag((coalesce.equals("auto")) ? 0 : 1);
			begin();
			JsonNode report = run(coalesce, record(one, 1), record(two, 2), record(three, 3), record(four, 4));
			long refused = (three.equals("RPUSH here")) ? 1 : 0;
			assertThat(Answer.counts(report)).as(coalesce).isEqualTo(new Counts(4, 4 - refused, 0, refused, 0, 0));
		}
	}

	@Test
	void aSlotThatHasGoneTakesAllItsRecordsWithItInTheirOrder() throws Exception {
		this.from.client().rpush(this.tag + "here", "0");
		cluster.move(TestCluster.slot(this.tag), this.to);
		JsonNode report = run("auto", record("HSET here", 1), record("DEL here left", 2), record("HSET here", 3),
				record("RPUSH here", 4));
		assertThat(RefusedOrderTests.outcomes(report)).isEqualTo("rejected applied applied rejected");
		assertThat(this.to.client().hgetall(this.tag + "here")).containsOnlyKeys("3");
	}

	private static String tag(int number) {
		return "{" + cluster.tag(0, number) + "}";
	}

	private void begin() {
		this.from.client().rpush(this.tag + "here", "0");
		this.from.client().rpush(this.tag + "left", "0");
		cluster.begin(TestCluster.slot(this.tag), this.from, this.to);
		cluster.migrate(this.from, this.to, this.tag + "left");
	}

	private JsonNode run(String coalesce, String... records) throws Exception {
		double waits = waits();
		CompletableFuture<Answer> job = this.service
			.sendAsync(this.service.uploading("/v1/jobs?flush=close&coalesce=" + coalesce, Service.NDJSON,
					Lines.of(records.length, (i) -> records[(int) i])));
		await().until(() -> job.isDone() || waits() > waits);
		if (!job.isDone()) {
			cluster.endWithKeys(TestCluster.slot(this.tag), this.from, this.to);
		}
		return job.get(1, TimeUnit.MINUTES).report();
	}

	private double waits() {
		Answer answer = this.service.get("/actuator/metrics/pipeset.retries?tag=reason:cluster-wait");
		return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
	}

	/** Such as "RPUSH here": the operation and the ends of its keys. */
	private String record(String words, int number) {
		String keys = words.replaceAll(" (\\w+)", ",\"" + this.tag + "$1\"").replaceFirst("^(\\w+)", "\"$1\"");
		return "[" + keys + switch (words.substring(0, words.indexOf(' '))) {
			case "DEL" -> "";
			case "HSET" -> ",\"" + number + "\",\"v\"";
			default -> ",\"" + number + "\"";
		} + "]";
	}

}
