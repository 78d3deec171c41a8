package io.pipeset.web.fault;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.document.Examples;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A transaction whose connection is lost ran as a whole or not at all. The tests count
 * messages, so that only the job may send any.
 */
@ServiceTest
class AtomicFaultTests {

	private static final int BATCH = 10;

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	AtomicFaultTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		// A fence of the test before may give its connection back later, which has not
		// done its handshake for jobs.
		proxy.resetAll();
		this.service.connect();
		redis.client().flushall();
	}

	/** The first batch has 12 messages, and the second is cut off. */
	@ParameterizedTest
	@CsvSource({ "12, 1", "12, 5", "13, 0", "17, 9", "22, 20", "23, 0", "23, 10" })
	void whatIsCutOffOnItsWayDidNotRunAndIsUnknown(int messages, int bytes) throws Exception {
		JsonNode job = cut("RPUSH", "", Way.COMMANDS, messages, bytes).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(3 * BATCH, BATCH, 0, 0, BATCH, BATCH));
		assertThat(redis.client().lrange("l", 0, -1)).isEqualTo(numbers(BATCH));
	}

	/** The replies to a batch are OK, ten times QUEUED, and the array. */
	@ParameterizedTest
	@CsvSource({ "12, 1", "12, 2", "18, 0", "22, 9", "23, 0", "23, 3" })
	void whatRanUnheardIsUnknown(int messages, int bytes) throws Exception {
		JsonNode job = cut("RPUSH", "", Way.REPLIES, messages, bytes).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(3 * BATCH, BATCH, 0, 0, BATCH, BATCH));
		assertThat(redis.client().lrange("l", 0, -1)).isEqualTo(numbers(2 * BATCH));
	}

	@Test
	void whatOfATransactionWasHeardIsKnown() throws Exception {
		Answer answer = cut("RPUSH", "", Way.REPLIES, 23, "*10\r\n:11\r\n:12\r\n".length());
		JsonNode job = Examples.check(502, "redis-lost", answer).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(3 * BATCH, BATCH + 2, 0, 0, BATCH - 2, BATCH));
	}

	@ParameterizedTest
	@CsvSource({ "COMMANDS, 12, 1", "COMMANDS, 17, 9", "COMMANDS, 23, 10", "REPLIES, 12, 1", "REPLIES, 18, 4",
			"REPLIES, 23, 12" })
	void aTransactionThatMayRunTwiceIsSentAgain(Way way, int messages, int bytes) throws Exception {
		JsonNode report = cut("SADD", "&retries=1", way, messages, bytes).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3 * BATCH, 3 * BATCH, 0, 0, 0, 0));
		assertThat(report.at("/fenced").asBoolean()).isTrue();
		assertThat(redis.client().smembers("l")).hasSize(3 * BATCH);
	}

	@Test
	void aTransactionThatMustNotRunTwiceIsNotSentAgainAndTheNextIs() throws Exception {
		JsonNode job = cut("RPUSH", "&retries=1", Way.REPLIES, 18, 0).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(3 * BATCH, 2 * BATCH, 0, 0, BATCH, 0));
		assertThat(redis.client().lrange("l", 0, -1)).isEqualTo(numbers(3 * BATCH));
	}

	/** The records of a batch go as one command, between MULTI and EXEC. */
	@ParameterizedTest
	@CsvSource({ "COMMANDS, 3, 1", "COMMANDS, 4, 9", "COMMANDS, 5, 10", "REPLIES, 3, 1", "REPLIES, 4, 9",
			"REPLIES, 5, 3" })
	void aTransactionOfOneCommandIsUnknownAsAWhole(Way way, int messages, int bytes) throws Exception {
		JsonNode job = cut("RPUSH", "&coalesce=auto", way, messages, bytes).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(3 * BATCH, BATCH, 0, 0, BATCH, BATCH));
		assertThat(redis.client().lrange("l", 0, -1)).isEqualTo(numbers((way == Way.COMMANDS) ? BATCH : 2 * BATCH));
	}

	/** Sends three batches, and breaks the connection. */
	private Answer cut(String operation, String settings, Way way, int messages, int bytes) throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(way, messages, bytes);
		CompletableFuture<Answer> answer = this.service.sendAsync(this.service.uploading(
				"/v1/jobs?atomic=batch&batchSize=" + BATCH + ((settings.contains("coalesce")) ? "" : "&coalesce=off")
						+ settings,
				Service.NDJSON, Lines.of(3L * BATCH, (i) -> "[\"" + operation + "\",\"l\"," + i + "]")));
		ProxyLink link = place.get(30, TimeUnit.SECONDS);
		// Once its connection is lost, the job reads no further.
		await().until(() -> received() == 3 * BATCH);
		if (way == Way.REPLIES) {
			await().until(() -> redis.client().exists("l") == 1);
			// The service reads all bytes before the place, which a reset would discard.
			link.end();
		}
		else {
			link.reset();
		}
		return answer.get(30, TimeUnit.SECONDS);
	}

	/** The records that the one job has read so far. */
	private long received() {
		JsonNode jobs = this.service.get("/v1/jobs?state=running").json().get("jobs");
		return (jobs.size() == 1) ? Answer.counts(jobs.get(0)).received() : 0;
	}

	private static List<String> numbers(int count) {
		return IntStream.range(0, count).mapToObj(Integer::toString).toList();
	}

}
