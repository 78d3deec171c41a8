package io.pipeset.web;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.web.FaultWorkload.Sent;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Holds a report against the records that were sent and what is in Redis afterwards. */
final class FaultAccount {

	private static final String UNTOUCHED = "untouched";

	private final FaultWorkload workload;

	private final FaultTrouble trouble;

	private final Answer answer;

	private final JsonNode job;

	private final Counts counts;

	/** What became of each record, by index. */
	private final List<Outcome> outcomes = new ArrayList<>();

	FaultAccount(FaultWorkload workload, FaultTrouble trouble, Answer answer) {
		this.workload = workload;
		this.trouble = trouble;
		this.answer = answer;
		this.job = job(answer, workload);
		this.counts = Answer.counts(this.job);
	}

	/** The report, whose sums hold, of an answer that is as the contract's table says. */
	private static JsonNode job(Answer answer, FaultWorkload workload) {
		if (answer.status() == 200) {
			return answer.report();
		}
		String type = answer.json().at("/type").asString().replace("urn:pipeset:problem:", "");
		String state = switch (type) {
			case "redis-lost", "redis-unreachable" -> "failed";
			case "redis-refuses" -> "stopped";
			default -> throw new AssertionError("Not to be expected: " + answer.text());
		};
		JsonNode job = answer.job(answer.status(), type, state);
		Counts counts = Answer.counts(job);
		int status = switch (type) {
			case "redis-lost" -> 502;
			case "redis-unreachable" -> 503;
			default -> (counts.applied() == 0) ? 503 : 502;
		};
		assertThat(answer.status()).isEqualTo(status);
		boolean written = job.at("/bytesSent").asLong() > 0;
		// Where its receipt was refused, nothing was written.
		assertThat(written)
			.isEqualTo(!type.equals("redis-unreachable") && !(workload.isReliable() && answer.status() == 503));
		assertThat(answer.header("Retry-After").isEmpty()).isEqualTo(written);
		if (counts.unknown() > 0) {
			assertThat(type).isEqualTo("redis-lost");
		}
		return job;
	}

	/**
	 * Looks at the report alone, where the data is not what the job has left any more.
	 */
	void checkReport() {
		checkEnding();
		readOutcomes();
	}

	void check(TestRedis redis, Service service) {
		checkReport();
		RedisCommands<String, String> commands = redis.client();
		Map<String, List<Integer>> byKey = new TreeMap<>();
		for (int i = 0; i < this.workload.records().size(); i++) {
			for (String key : new TreeSet<>(this.workload.records().get(i).keys())) {
				byKey.computeIfAbsent(key, (name) -> new ArrayList<>()).add(i);
			}
		}
		byKey.forEach((key, indexes) -> {
			switch (this.workload.records().get(indexes.get(0)).op()) {
				case "LPUSH" -> checkPushed(key, indexes, reversed(commands.lrange(key, 0, -1)));
				case "RPUSH" -> checkPushed(key, indexes, commands.lrange(key, 0, -1));
				case "RPOP" -> checkPopped(key, indexes, commands.lrange(key, 0, -1));
				case "HSET" -> {
					if (!key.equals(FaultWorkload.IN_THE_WAY)) {
						Map<String, String> hash = commands.hgetall(key);
						checkLeft(key, indexes, (hash.isEmpty()) ? null : new TreeMap<>(hash).toString());
					}
				}
				default -> checkLeft(key, indexes, commands.get(key));
			}
		});
		assertThat(commands.get(FaultWorkload.IN_THE_WAY)).isEqualTo(UNTOUCHED);
		this.workload.transactions().forEach(this::checkTransaction);
		if (this.workload.isReliable()) {
			checkReceipt(commands, service);
		}
	}

	/** What was popped waits for its acknowledgement, and goes back without a loss. */
	private void checkReceipt(RedisCommands<String, String> commands, Service service) {
		String id = this.job.at("/jobId").asString();
		if (this.job.has("receipt")) {
			assertThat(this.counts.unknown()).isZero();
			assertThat(strings(this.job.get("values")))
				.isEqualTo(reversed(commands.lrange("pipeset:pop:" + id, 0, -1)));
		}
		assertThat(service.post("/v1/jobs/" + id + "/nack").status()).isIn(204, 410);
		assertThat(reversed(commands.lrange("q:0", 0, -1))).isEqualTo(this.workload.queues().get("q:0"));
	}

	/** All of it ran, or none, and an unknown record may have run with those that did. */
	private void checkTransaction(List<Integer> indexes) {
		Set<Boolean> ran = new HashSet<>();
		for (int index : indexes) {
			Outcome outcome = this.outcomes.get(index);
			if (!outcome.isUnknown()) {
				ran.add(outcome.isApplied() || outcome.status().equals("noop") || outcome.code().equals("WRONGTYPE"));
			}
		}
		boolean unknown = indexes.stream().anyMatch((index) -> this.outcomes.get(index).isUnknown());
		assertThat(ran).as("whether the transaction from %d ran", indexes.get(0)).hasSizeLessThanOrEqualTo(1);
		if (unknown) {
			assertThat(ran).doesNotContain(false);
		}
	}

	private void checkEnding() {
		int sent = this.workload.records().size();
		boolean complete = this.job.at("/inputComplete").asBoolean();
		if (this.workload.mediaType() == null || complete) {
			assertThat(this.counts.received()).isEqualTo(sent);
		}
		else {
			assertThat(this.job.at("/nextIndex").asLong()).isEqualTo(this.counts.received()).isLessThanOrEqualTo(sent);
		}
		boolean all = this.counts.unknown() + this.counts.unprocessed() == 0 && complete;
		if (this.answer.status() == 200) {
			assertThat(all).as("completed, so that every record ran").isTrue();
		}
		if (this.trouble.isHarmless()) {
			assertThat(this.answer.status()).as(this.answer.text().substring(0, 200)).isEqualTo(200);
		}
		if (this.trouble.isRefusal()) {
			assertThat(this.counts.unknown()).isZero();
		}
	}

	/** Every record that was read has one item, which says of it what is true. */
	private void readOutcomes() {
		assertThat(this.job.at("/itemsOmitted").asLong()).isLessThanOrEqualTo(this.counts.unprocessed());
		long next = this.job.path("nextIndex").asLong(this.workload.records().size());
		List<Object> values = new ArrayList<>();
		for (JsonNode item : this.job.get("items")) {
			int index = this.outcomes.size();
			assertThat(item.at("/index").asInt()).isEqualTo(index);
			Sent sent = this.workload.records().get(index);
			Outcome outcome = new Outcome(item.at("/status").asString(), strings(item.get("reply")),
					item.at("/error/code").asString(""));
			if (!sent.op().isEmpty()) {
				assertThat(item.at("/op").asString()).isEqualTo(sent.op());
				assertThat(item.at("/key").asString()).isEqualTo(sent.key());
			}
			switch (outcome.status()) {
				case "unknown" -> {
					assertThat(outcome.code()).isIn("CONNECTION_LOST", "TIMEOUT");
					boolean refused = item.at("/error/message").asString().contains("answered: WRONGTYPE");
					assertThat(item.at("/error/retryable").asBoolean()).isEqualTo(sent.isRepeatable() && !refused);
				}
				case "unprocessed" -> assertThat(outcome.code()).isEqualTo("NOT_SENT");
				case "rejected" -> checkRejection(sent, outcome.code());
				case "noop" -> assertThat(sent.op()).isEqualTo("RPOP");
				default -> assertThat(outcome.code()).isEmpty();
			}
			this.outcomes.add(outcome);
			if (outcome.isApplied() && sent.op().equals("RPOP")) {
				values.addAll(outcome.reply());
			}
		}
		assertThat(this.outcomes).hasSize((int) next);
		while (this.outcomes.size() < this.workload.records().size()) {
			this.outcomes.add(new Outcome("unprocessed", List.of(), ""));
		}
		if (this.job.has("values")) {
			assertThat(strings(this.job.get("values"))).isEqualTo(values);
		}
		assertThat(count("applied")).isEqualTo(this.counts.applied());
		assertThat(count("noop")).isEqualTo(this.counts.noop());
		assertThat(count("rejected")).isEqualTo(this.counts.rejected());
		assertThat(count("unknown")).isEqualTo(this.counts.unknown());
	}

	private void checkRejection(Sent sent, String code) {
		if (sent.op().isEmpty()) {
			assertThat(code).isEqualTo("MALFORMED");
		}
		else if (this.trouble.isRefusal() && !code.equals("WRONGTYPE")) {
			String refusal = (this.trouble == FaultTrouble.READ_ONLY) ? "READONLY" : "OOM";
			assertThat(code).isIn(refusal, (this.workload.isAtomic()) ? "EXECABORT" : refusal);
		}
		else {
			assertThat(code).isEqualTo("WRONGTYPE");
			assertThat(sent.key()).isEqualTo(FaultWorkload.IN_THE_WAY);
		}
	}

	/** What a key holds is what the records that ran, in their order, leave in it. */
	private void checkLeft(String key, List<Integer> indexes, @Nullable String found) {
		Set<@Nullable String> possible = new HashSet<>();
		possible.add(null);
		for (int index : indexes) {
			Sent sent = this.workload.records().get(index);
			String left = (sent.op().equals("DEL")) ? null : sent.leaves();
			if (this.outcomes.get(index).isApplied()) {
				possible.clear();
			}
			if (this.outcomes.get(index).isApplied() || this.outcomes.get(index).isUnknown()) {
				possible.add(left);
			}
		}
		assertThat(found).as(key).matches(possible::contains, "one of " + possible);
	}

	/** All that were pushed are there, once and in order, and none that was not. */
	private void checkPushed(String key, List<Integer> indexes, List<String> pushed) {
		int next = 0;
		for (int index : indexes) {
			String element = this.workload.records().get(index).leaves();
			boolean there = next < pushed.size() && pushed.get(next).equals(element);
			if (there) {
				next++;
			}
			if (!this.outcomes.get(index).isUnknown()) {
				assertThat(there).as("%s of record %d in %s", this.outcomes.get(index).status(), index, key)
					.isEqualTo(this.outcomes.get(index).isApplied());
			}
		}
		assertThat(next).as("all that is in %s, in the records' order", key).isEqualTo(pushed.size());
	}

	/**
	 * Each value is in the report, or still in the list, or lost to an unknown record.
	 */
	private void checkPopped(String key, List<Integer> indexes, List<String> left) {
		List<String> all = this.workload.queues().get(key);
		int next = 0;
		int mayBeLost = 0;
		int lost = 0;
		for (int index : indexes) {
			Sent sent = this.workload.records().get(index);
			Outcome outcome = this.outcomes.get(index);
			if (outcome.isUnknown()) {
				mayBeLost += sent.takes();
			}
			if (outcome.isApplied()) {
				int at = all.indexOf(outcome.reply().get(0));
				assertThat(at).as("what record %d took out of %s", index, key).isGreaterThanOrEqualTo(next);
				lost += at - next;
				next = at + outcome.reply().size();
				assertThat(outcome.reply()).isEqualTo(all.subList(at, next));
				assertThat(outcome.reply()).hasSize(Math.min(sent.takes(), all.size() - at));
				assertThat(lost).as("values gone from %s before record %d", key, index).isLessThanOrEqualTo(mayBeLost);
			}
			if (outcome.status().equals("noop")) {
				lost += all.size() - next;
				next = all.size();
			}
		}
		List<String> rest = reversed(left);
		assertThat(rest).as("the rest of %s", key).isEqualTo(all.subList(all.size() - rest.size(), all.size()));
		lost += all.size() - rest.size() - next;
		assertThat(lost).as("values gone from %s", key).isBetween(0, mayBeLost);
	}

	private long count(String status) {
		return this.outcomes.stream().filter((outcome) -> outcome.status().equals(status)).count();
	}

	static void prepare(TestRedis redis, FaultWorkload workload) {
		redis.client().flushall();
		redis.client().set(FaultWorkload.IN_THE_WAY, UNTOUCHED);
		// RPUSH takes the last value first.
		workload.queues().forEach((key, values) -> redis.client().lpush(key, values.toArray(String[]::new)));
	}

	private static List<String> reversed(List<String> list) {
		List<String> reversed = new ArrayList<>(list);
		Collections.reverse(reversed);
		return reversed;
	}

	private static List<String> strings(@Nullable Object list) {
		if (list == null) {
			return List.of();
		}
		if (list instanceof JsonNode node) {
			return (node.isArray()) ? node.valueStream().map(JsonNode::asString).toList()
					: Arrays.asList(node.asString(""));
		}
		return ((List<?>) list).stream().map(Objects::toString).toList();
	}

	@Override
	public String toString() {
		return this.answer.status() + " " + this.counts;
	}

	/** What the report says of a record. */
	private record Outcome(String status, List<String> reply, String code) {

		boolean isApplied() {
			return this.status.equals("applied");
		}

		boolean isUnknown() {
			return this.status.equals("unknown");
		}

	}

}
