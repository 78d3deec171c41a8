package io.pipeset.web.fault;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.web.fault.FaultWorkload.Sent;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Holds a report against the records that were sent. */
final class FaultAccount {

	private final FaultWorkload workload;

	private final FaultTrouble trouble;

	private final Answer answer;

	private final JsonNode job;

	private final Counts counts;

	/** The outcome of each record, by its index. */
	private final List<Outcome> outcomes = new ArrayList<>();

	FaultAccount(FaultWorkload workload, FaultTrouble trouble, Answer answer) {
		this.workload = workload;
		this.trouble = trouble;
		this.answer = answer;
		this.job = job(answer, workload);
		this.counts = Answer.counts(this.job);
	}

	/**
	 * The report of an answer. Its sums must hold, and status and type must fit the
	 * contract's table.
	 */
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
		boolean unreachable = type.equals("redis-unreachable");
		// A job whose receipt is refused ends before it writes anything.
		if (!(workload.isReliable() && type.equals("redis-refuses"))) {
			assertThat(job.at("/bytesSent").asLong() > 0).isNotEqualTo(unreachable);
		}
		assertThat(answer.header("Retry-After").isEmpty()).isNotEqualTo(unreachable);
		if (counts.unknown() > 0) {
			assertThat(type).isEqualTo("redis-lost");
		}
		return job;
	}

	/** Holds the report against the records. */
	void check() {
		checkEnding();
		readOutcomes();
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

	/** Every record that was read must have one item with a possible outcome. */
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
		else if (this.trouble == FaultTrouble.KILL_AND_RESTART && !code.equals("WRONGTYPE")) {
			assertThat(code).isIn("LOADING", (this.workload.isAtomic()) ? "EXECABORT" : "LOADING");
		}
		else {
			assertThat(code).isEqualTo("WRONGTYPE");
			assertThat(sent.key()).isEqualTo(FaultWorkload.IN_THE_WAY);
		}
	}

	private long count(String status) {
		return this.outcomes.stream().filter((outcome) -> outcome.status().equals(status)).count();
	}

	static List<String> strings(@Nullable Object list) {
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

	/** The outcome of a record. */
	Outcome outcome(int index) {
		return this.outcomes.get(index);
	}

	JsonNode job() {
		return this.job;
	}

	FaultWorkload workload() {
		return this.workload;
	}

	/** The outcome that the report gives a record. */
	record Outcome(String status, List<String> reply, String code) {

		boolean isApplied() {
			return this.status.equals("applied");
		}

		boolean isUnknown() {
			return this.status.equals("unknown");
		}

	}

}
