package io.pipeset.web.fault;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.web.fault.FaultWorkload.Sent;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Holds the data in Redis after a job against its report, key by key. */
final class FaultData {

	private static final String UNTOUCHED = "untouched";

	private final FaultAccount account;

	private final FaultWorkload workload;

	private final List<Sent> records;

	FaultData(FaultAccount account) {
		this.account = account;
		this.workload = account.workload();
		this.records = this.workload.records();
	}

	static void prepare(TestRedis redis, FaultWorkload workload) {
		redis.client().flushall();
		redis.client().set(FaultWorkload.IN_THE_WAY, UNTOUCHED);
		// RPUSH takes the last value first.
		workload.queues().forEach((key, values) -> redis.client().lpush(key, values.toArray(String[]::new)));
	}

	void check(TestRedis redis, Service service) {
		RedisCommands<String, String> commands = redis.client();
		Map<String, List<Integer>> byKey = new TreeMap<>();
		for (int i = 0; i < this.records.size(); i++) {
			for (String key : new TreeSet<>(this.records.get(i).keys())) {
				byKey.computeIfAbsent(key, (name) -> new ArrayList<>()).add(i);
			}
		}
		byKey.forEach((key, indexes) -> {
			switch (this.records.get(indexes.get(0)).op()) {
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

	/**
	 * The popped values must wait for their acknowledgement, and go back without a loss.
	 */
	private void checkReceipt(RedisCommands<String, String> commands, Service service) {
		String id = this.account.job().at("/jobId").asString();
		if (this.account.job().has("receipt")) {
			assertThat(Answer.counts(this.account.job()).unknown()).isZero();
			assertThat(FaultAccount.strings(this.account.job().get("values")))
				.isEqualTo(reversed(commands.lrange("pipeset:pop:" + id, 0, -1)));
		}
		assertThat(service.post("/v1/jobs/" + id + "/nack").status()).isIn(204, 410);
		assertThat(reversed(commands.lrange("q:0", 0, -1))).isEqualTo(this.workload.queues().get("q:0"));
	}

	/**
	 * All records of a transaction ran, or none. An unknown record may have run with the
	 * others.
	 */
	private void checkTransaction(List<Integer> indexes) {
		Set<Boolean> ran = new HashSet<>();
		for (int index : indexes) {
			FaultAccount.Outcome outcome = this.account.outcome(index);
			if (!outcome.isUnknown()) {
				ran.add(outcome.isApplied() || outcome.status().equals("noop") || outcome.code().equals("WRONGTYPE"));
			}
		}
		boolean unknown = indexes.stream().anyMatch((index) -> this.account.outcome(index).isUnknown());
		assertThat(ran).as("whether the transaction from %d ran", indexes.get(0)).hasSizeLessThanOrEqualTo(1);
		if (unknown) {
			assertThat(ran).doesNotContain(false);
		}
	}

	/**
	 * A key must hold the value that the records leave in it that ran, in their order.
	 */
	private void checkLeft(String key, List<Integer> indexes, @Nullable String found) {
		Set<@Nullable String> possible = new HashSet<>();
		possible.add(null);
		for (int index : indexes) {
			Sent sent = this.records.get(index);
			String left = (sent.op().equals("DEL")) ? null : sent.leaves();
			if (this.account.outcome(index).isApplied()) {
				possible.clear();
			}
			if (this.account.outcome(index).isApplied() || this.account.outcome(index).isUnknown()) {
				possible.add(left);
			}
		}
		assertThat(found).as(key).matches(possible::contains, "one of " + possible);
	}

	/**
	 * The list must hold all values that were pushed, once and in order, and no others.
	 */
	private void checkPushed(String key, List<Integer> indexes, List<String> pushed) {
		int next = 0;
		for (int index : indexes) {
			String element = this.records.get(index).leaves();
			boolean there = next < pushed.size() && pushed.get(next).equals(element);
			if (there) {
				next++;
			}
			if (!this.account.outcome(index).isUnknown()) {
				assertThat(there).as("%s of record %d in %s", this.account.outcome(index).status(), index, key)
					.isEqualTo(this.account.outcome(index).isApplied());
			}
		}
		assertThat(next).as("all that is in %s, in the records' order", key).isEqualTo(pushed.size());
	}

	/**
	 * Each value must be in the report, still in the list, or lost to an unknown record.
	 */
	private void checkPopped(String key, List<Integer> indexes, List<String> left) {
		List<String> all = this.workload.queues().get(key);
		int next = 0;
		int mayBeLost = 0;
		int lost = 0;
		for (int index : indexes) {
			Sent sent = this.records.get(index);
			FaultAccount.Outcome outcome = this.account.outcome(index);
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

	private static List<String> reversed(List<String> list) {
		List<String> reversed = new ArrayList<>(list);
		Collections.reverse(reversed);
		return reversed;
	}

}
