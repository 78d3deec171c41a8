package io.pipeset.keep;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;

import io.pipeset.input.source.HttpFailures;
import io.pipeset.keep.control.CallbackQueue;
import io.pipeset.keep.control.CallbackQueue.PendingCallback;
import io.pipeset.keep.control.CallbackState;
import io.pipeset.keep.control.CallbackState.State;
import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.keep.control.JobRecords;
import io.pipeset.request.Callbacks;
import io.pipeset.request.Clients;
import io.pipeset.request.UrlPrefixes;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.stereotype.Component;
import org.springframework.util.StringUtils;

/**
 * Sends callbacks that are due, whichever instance had the job. Each attempt is
 * asynchronous, so a receiver that does not answer delays no other callback, and no job.
 * If this process ends during an attempt, another one repeats it. So a receiver may get a
 * report twice, with the same {@code webhook-id}.
 */
@Component
final class CallbackSender {

	private static final Logger logger = LoggerFactory.getLogger(CallbackSender.class);

	private static final Duration TICK = Duration.ofSeconds(1);

	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	/** Longer than an attempt, with the time to record it. */
	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final int MAX_ATTEMPTS_AT_ONCE = 64;

	/**
	 * A receiver that does not answer leaves the rest to others, and so does a client.
	 */
	private static final int MAX_ATTEMPTS_OF_ONE = 8;

	private static final Duration FIRST_DELAY = Duration.ofSeconds(5);

	private static final Duration MAX_DELAY = Duration.ofMinutes(5);

	private static final Duration REFUSAL_DELAY = Duration.ofSeconds(2);

	private static final int GONE = 410;

	private final CallbackQueue queue;

	private final JobRecords records;

	private final Callbacks callbacks;

	private final Clients clients;

	private final JobRecorder recorder;

	private final TaskScheduler scheduler;

	private final Semaphore permits = new Semaphore(MAX_ATTEMPTS_AT_ONCE);

	/** By host and port, which the allowed URLs bound. */
	private final Map<String, Semaphore> receivers = new ConcurrentHashMap<>();

	/** By their names. */
	private final Map<String, Semaphore> clientPermits = new ConcurrentHashMap<>();

	private volatile @Nullable HttpClient http;

	private @Nullable ScheduledFuture<?> ticks;

	CallbackSender(CallbackQueue queue, JobRecords records, Callbacks callbacks, Clients clients, JobRecorder recorder,
			TaskScheduler scheduler) {
		this.queue = queue;
		this.scheduler = scheduler;
		this.records = records;
		this.callbacks = callbacks;
		this.clients = clients;
		this.recorder = recorder;
	}

	/** Starts to send callbacks, if jobs may have any. */
	@EventListener(ApplicationStartedEvent.class)
	void start() {
		if (this.callbacks.areEnabled()) {
			this.http = HttpClient.newBuilder()
				.version(HttpClient.Version.HTTP_1_1)
				.followRedirects(HttpClient.Redirect.NEVER)
				.connectTimeout(CONNECT_TIMEOUT)
				.build();
			this.ticks = this.scheduler.scheduleWithFixedDelay(this::tick, TICK);
		}
	}

	@PreDestroy
	void shutDown() {
		if (this.ticks != null) {
			this.ticks.cancel(false);
		}
		// Its threads end once it is garbage.
		this.http = null;
	}

	private void tick() {
		try {
			int free = this.permits.availablePermits();
			if (free > 0) {
				List<String> full = this.clientPermits.entrySet()
					.stream()
					.filter((client) -> client.getValue().availablePermits() == 0)
					.map(Map.Entry::getKey)
					.toList();
				for (String claimed : this.queue.claim(free, LEASE, full)) {
					this.queue.find(claimed)
						.ifPresentOrElse(this::attempt, () -> this.records.endCallback(CallbackQueue.jobId(claimed)));
				}
			}
		}
		catch (ControlRedisException ex) {
			logger.debug("Callbacks wait for the control Redis", ex);
		}
		catch (RuntimeException | Error ex) {
			logger.error("Callbacks could not be sent", ex);
		}
	}

	private void attempt(PendingCallback callback) {
		URI url = UrlPrefixes.parse(callback.url());
		// The properties may have changed since the job was accepted.
		String refusal = (url != null) ? this.callbacks.refusal(this.clients.find(callback.client()), url)
				: "The URL is not " + UrlPrefixes.ALLOWED;
		HttpClient http = this.http;
		if (url == null || refusal != null) {
			// In a rollout, an instance with other properties may take it. The delay is
			// random, so that this one is not always the first to find it.
			settle(callback, State.PENDING, callback.attempts(), randomly(REFUSAL_DELAY.toMillis(), 1), refusal);
		}
		else if (http != null) {
			Semaphore receiver = permits(this.receivers, receiver(url));
			Semaphore client = permits(this.clientPermits, callback.client());
			if (!client.tryAcquire()) {
				this.queue.postpone(callback, System.currentTimeMillis() + TICK.toMillis());
			}
			else if (!receiver.tryAcquire()) {
				client.release();
				this.queue.postpone(callback, System.currentTimeMillis() + TICK.toMillis());
			}
			else {
				this.permits.acquireUninterruptibly();
				send(http, callback, url, () -> {
					this.permits.release();
					receiver.release();
					client.release();
				});
			}
		}
	}

	private static Semaphore permits(Map<String, Semaphore> all, String name) {
		return all.computeIfAbsent(name, (absent) -> new Semaphore(MAX_ATTEMPTS_OF_ONE));
	}

	/** The host and port that a URL is sent to, however they are written. */
	static String receiver(URI url) {
		int port = (url.getPort() >= 0) ? url.getPort() : (url.getScheme().equalsIgnoreCase("https")) ? 443 : 80;
		return url.getHost().toLowerCase(Locale.ROOT).replaceFirst("\\.$", "") + ":" + port;
	}

	private void send(HttpClient http, PendingCallback callback, URI url, Runnable release) {
		boolean begun = false;
		try {
			CompletableFuture<?> unused = http.sendAsync(request(callback, url), (head) -> new UnreadBody())
				.whenComplete((response, failure) -> {
					release.run();
					handle(callback, response, failure);
				});
			begun = true;
		}
		finally {
			if (!begun) {
				release.run();
			}
		}
	}

	private HttpRequest request(PendingCallback callback, URI url) {
		long seconds = System.currentTimeMillis() / 1000;
		byte[] body = callback.body().getBytes(StandardCharsets.UTF_8);
		return HttpRequest.newBuilder(url)
			.timeout(TIMEOUT)
			.header("Content-Type", "application/json")
			.header("User-Agent", "Pipeset")
			.header("webhook-id", callback.jobId())
			.header("webhook-timestamp", Long.toString(seconds))
			.header("webhook-signature", this.callbacks.sign(callback.jobId(), seconds, body))
			.POST(BodyPublishers.ofByteArray(body))
			.build();
	}

	private void handle(PendingCallback callback, @Nullable HttpResponse<?> response, @Nullable Throwable failure) {
		try {
			if (response == null) {
				settle(callback, State.PENDING,
						StringUtils.capitalize(HttpFailures.describe(failure, "the receiver", TIMEOUT)));
				return;
			}
			int status = response.statusCode();
			if (status / 100 == 2) {
				settle(callback, State.DELIVERED, null);
			}
			else {
				settle(callback, (status == GONE) ? State.FAILED : State.PENDING, "The receiver answered " + status
						+ ((status / 100 == 3) ? ", and redirects are not followed" : ""));
			}
		}
		catch (RuntimeException | Error ex) {
			logger.error("The attempt of a callback could not be recorded, and will be repeated", ex);
		}
	}

	private void settle(PendingCallback callback, State state, @Nullable String error) {
		settle(callback, state, callback.attempts() + 1, delay(callback.attempts()), error);
	}

	/**
	 * Records an attempt, also if the control Redis can only be reached later.
	 * @param state pending if the report is to be sent again, unless it was for too long
	 * @param delay the time until the next attempt
	 * @param error why the attempt failed; {@code null} if it did not
	 */
	private void settle(PendingCallback callback, State state, int attempts, Duration delay, @Nullable String error) {
		long now = System.currentTimeMillis();
		long age = now - Objects.requireNonNullElse(callback.firstMillis(), now);
		Duration left = CallbackQueue.RETRIED_FOR.minusMillis(age);
		boolean over = left.isNegative() || left.isZero();
		Duration next = (state != State.PENDING || over) ? null : (delay.compareTo(left) < 0) ? delay : left;
		CallbackState recorded = new CallbackState((state == State.PENDING && over) ? State.FAILED : state, attempts,
				error);
		if (recorded.state() == State.FAILED) {
			logger.atWarn()
				.addKeyValue("jobId", callback.jobId())
				.log("The report of job {} was not accepted by {} and is given up after {} attempts: {}",
						callback.jobId(), UrlPrefixes.withoutQuery(callback.url()).replaceFirst("^[^/]*//", ""),
						recorded.attempts(), error);
		}
		Runnable step = () -> this.queue.record(callback, recorded, now, next);
		try {
			step.run();
		}
		catch (ControlRedisException ex) {
			this.recorder.later(step);
		}
	}

	/** The delay after an attempt, with a random part. */
	private static Duration delay(int attemptsBefore) {
		long millis = Math.min(MAX_DELAY.toMillis(), FIRST_DELAY.toMillis() << Math.min(attemptsBefore, 6));
		return randomly(millis, 5);
	}

	/** A delay that is shorter by a random part, which is less than one in so many. */
	private static Duration randomly(long millis, int part) {
		return Duration.ofMillis(millis - ThreadLocalRandom.current().nextLong(millis / part));
	}

}
