package io.pipeset.web.fault;

import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import io.pipeset.OwnThread;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An upload with {@code exactlyOnce}, and what its caller does until it has ended: look
 * at it, or repeat it.
 *
 * @param settings settings of the job, each with an ampersand ahead
 */
record OnceLoad(OnceRecords records, String settings, Caller caller) {

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	static OnceLoad pick(OnceRecords records, Random random, Caller caller) {
		int batch = List.of(3, 20, 50, 100, 500).get(random.nextInt(5));
		int lanes = List.of(1, 2, 4, 8).get(random.nextInt(4));
		int retries = List.of(10, 10, 10, 10, 10, 3, 1, 0).get(random.nextInt(8));
		return new OnceLoad(records,
				"&batchSize=" + batch + "&concurrency=" + lanes + "&retries=" + retries + "&timeout=30s", caller);
	}

	/** The same load, which takes a second or two. */
	OnceLoad slow() {
		return new OnceLoad(this.records, this.settings + "&rateLimit=4000", this.caller);
	}

	private HttpRequest.Builder request(Service service) {
		HttpRequest.Builder request = service
			.uploading("/v1/jobs?exactlyOnce=true&results=none" + this.settings, Service.NDJSON, this.records.lines())
			.timeout(Duration.ofMinutes(5));
		return switch (this.caller) {
			case WAITING -> request;
			case REPEATING -> request.header("Idempotency-Key", this.records.prefix());
			case LOOKING -> request.header("Prefer", "respond-async");
		};
	}

	/** Sends the request; the answer is {@code null} if the service dies. */
	CompletableFuture<@Nullable Answer> send(Service service) {
		return service.sendAsync(request(service))
			.<@Nullable Answer>thenApply((answer) -> answer)
			.exceptionally((ex) -> null);
	}

	/**
	 * Does what a caller does until the load has ended.
	 * @param service a service that answers
	 * @param sent the answer of the first request
	 * @return what the service tells at the end
	 */
	CompletableFuture<Outcome> finish(Service service, CompletableFuture<@Nullable Answer> sent) {
		return OwnThread.supply(() -> {
			Answer answer = sent.join();
			return switch (this.caller) {
				case WAITING -> Outcome.of(Objects.requireNonNull(answer).json());
				case REPEATING -> Outcome.of(repeat(service, answer).json());
				case LOOKING -> {
					String location = path(Objects.requireNonNull(answer));
					JsonNode report = await().pollInterval(Duration.ofMillis(20))
						.atMost(PATIENCE)
						.until(() -> service.get(location).json(), OnceLoad::isEnded);
					yield goOn(service, location, Outcome.of(report));
				}
			};
		});
	}

	private Answer repeat(Service service, @Nullable Answer first) {
		Answer last = (isFinal(first)) ? Objects.requireNonNull(first)
				: Objects.requireNonNull(await().pollInterval(Duration.ofMillis(50))
					.atMost(PATIENCE)
					.until(() -> send(service).join(), OnceLoad::isFinal));
		// Once more, for the answer that is kept.
		Answer kept = Objects.requireNonNull(send(service).join());
		assertThat(Outcome.of(kept.json()).applied()).as(kept.text()).isEqualTo(Outcome.of(last.json()).applied());
		return kept;
	}

	/** Posts what the list of the records that did not run has. */
	private Outcome goOn(Service service, String location, Outcome ended) {
		if (ended.isComplete(this.records)) {
			return ended;
		}
		String rest = service.get(location + "/items?status=unprocessed").text();
		if (rest.isBlank()) {
			return ended;
		}
		Outcome next = Outcome
			.of(service.post("/v1/jobs?exactlyOnce=true&retries=10&results=none", Service.NDJSON, rest).json());
		return new Outcome(ended.applied() + next.applied(), ended.unknown() + next.unknown(), ended.odd() + next.odd(),
				ended.state() + ", then " + next.state());
	}

	private static boolean isFinal(@Nullable Answer answer) {
		return answer != null && answer.status() != 409
				&& !answer.json().at("/job/state").asString("").equals("interrupted");
	}

	private static boolean isEnded(JsonNode report) {
		return List.of("completed", "failed", "stopped", "cancelled").contains(report.at("/state").asString(""));
	}

	private static String path(Answer accepted) {
		assertThat(accepted.status()).as(accepted.text()).isEqualTo(202);
		return accepted.header("Location").replaceFirst("^.*(?=/v1/)", "");
	}

	@Override
	public String toString() {
		return this.caller + " " + this.records.prefix() + " " + this.records.size() + " records of "
				+ this.records.lists() + " lists" + this.settings;
	}

	/** How a load is called. */
	enum Caller {

		/** It has one answer. */
		WAITING,

		/** It is repeated with its key. */
		REPEATING,

		/** It is accepted and goes on by itself. */
		LOOKING

	}

	/**
	 * What the service tells of a load.
	 *
	 * @param odd the records with an outcome that none should have
	 */
	record Outcome(long applied, long unknown, long odd, String state) {

		static Outcome of(JsonNode answer) {
			JsonNode job = (answer.has("job")) ? answer.get("job") : answer;
			String state = job.path("state").asString("") + " " + answer.path("detail").asString("")
					+ job.at("/ending/detail").asString("");
			if (!job.has("counts")) {
				return new Outcome(0, 0, 0, state);
			}
			Counts counts = Answer.counts(job);
			return new Outcome(counts.applied(), counts.unknown(), counts.noop() + counts.rejected(), state);
		}

		boolean isComplete(OnceRecords records) {
			return this.applied == records.size();
		}

	}

}
