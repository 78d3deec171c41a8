package io.pipeset.web;

import java.io.IOException;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.pipeset.report.JobStatus;
import io.pipeset.request.Client;
import io.pipeset.request.ClientPermits;
import io.pipeset.request.JobLimits;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.annotation.PreDestroy;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Sends the progress of jobs to subscribers, four times a second until the job has ended:
 * as <a href="https://html.spec.whatwg.org/multipage/server-sent-events.html">Server-Sent
 * Events</a>, or as a line for a terminal. A subscriber that does not read misses events,
 * and does not delay other subscribers. It is removed when the web server gives up
 * writing to it.
 */
@Component
class JobEvents {

	/** The name and the id of the last event. */
	private static final String END = "end";

	private static final long TICK_MILLIS = 250;

	private static final MediaType TEXT = MediaType.valueOf("text/plain;charset=UTF-8");

	private final ClientPermits permits;

	private final Set<Subscriber> subscribers = ConcurrentHashMap.newKeySet();

	/** Has one thread for each subscriber that is being written to. */
	private final ExecutorService writers;

	JobEvents(JobLimits limits) {
		this.permits = new ClientPermits(limits.maxEventStreams(), "streams of events",
				"pipeset.limits.max-event-streams=" + limits.maxEventStreams() + " allows");
		CustomizableThreadFactory threads = new CustomizableThreadFactory("events-");
		threads.setDaemon(true);
		this.writers = Executors.newCachedThreadPool(threads);
	}

	/**
	 * Starts a stream of events, and writes the first event.
	 * @param job reads the status of the job, which may have ended
	 * @param request the header {@code Accept} selects the form, and
	 * {@code Last-Event-ID} shows whether the caller has received the last event
	 * @return a response with the stream; without a body to HEAD, or if the caller has
	 * received the last event
	 * @throws ErrorResponseException if the client, or all clients together, have too
	 * many streams
	 */
	ResponseEntity<ResponseBodyEmitter> subscribe(Client client, Supplier<JobStatus> job, HttpServletRequest request) {
		if (END.equals(request.getHeader("Last-Event-ID"))) {
			return ResponseEntity.noContent().build();
		}
		boolean text = prefersText(request);
		ResponseEntity.BodyBuilder answer = ResponseEntity.ok()
			.contentType((text) ? TEXT : MediaType.TEXT_EVENT_STREAM)
			// Otherwise a proxy such as nginx may collect events and send them at once.
			.header("X-Accel-Buffering", "no");
		if (HttpMethod.HEAD.matches(request.getMethod())) {
			// A response to HEAD has no body, so no failed write would show that the
			// subscriber has disconnected.
			return answer.build();
		}
		if (!this.permits.tryReserve(client)) {
			throw Problems.exception(Problem.TOO_MANY, this.permits.refusal(client)
					+ ": send the request again later, or query the job with GET /v1/jobs/{id}");
		}
		ResponseBodyEmitter emitter = (text) ? new ResponseBodyEmitter(-1L) : new SseEmitter(-1L);
		Subscriber subscriber = new Subscriber(client, job, emitter);
		this.subscribers.add(subscriber);
		emitter.onCompletion(subscriber::unsubscribe);
		emitter.onError((ex) -> subscriber.unsubscribe());
		subscriber.run();
		return answer.body(emitter);
	}

	/** Starts a write to each subscriber that is not being written to. */
	@Scheduled(fixedRate = TICK_MILLIS)
	void tick() {
		for (Subscriber subscriber : this.subscribers) {
			if (subscriber.writing.compareAndSet(false, true)) {
				try {
					this.writers.execute(subscriber);
				}
				catch (RejectedExecutionException | OutOfMemoryError ex) {
					// No thread is available. The next tick tries again.
					subscriber.writing.set(false);
				}
			}
		}
	}

	/** The number of open streams. */
	int count() {
		return this.subscribers.size();
	}

	@PreDestroy
	void shutDown() {
		this.writers.shutdown();
	}

	/** Whether the header {@code Accept} names plain text, and not events with it. */
	private static boolean prefersText(HttpServletRequest request) {
		return Collections.list(request.getHeaders(HttpHeaders.ACCEPT))
			.stream()
			.anyMatch((accepted) -> accepted.contains(MediaType.TEXT_PLAIN_VALUE)
					&& !accepted.contains(MediaType.TEXT_EVENT_STREAM_VALUE));
	}

	/** One stream of events. */
	private final class Subscriber implements Runnable {

		private final Client client;

		private final Supplier<JobStatus> job;

		private final ResponseBodyEmitter emitter;

		/**
		 * Whether a thread writes to the subscriber. It is {@code true} from the start,
		 * so that no tick writes before the first event.
		 */
		private final AtomicBoolean writing = new AtomicBoolean(true);

		/** The id of the last written event. Only one thread at a time writes. */
		private long id = -1;

		private Subscriber(Client client, Supplier<JobStatus> job, ResponseBodyEmitter emitter) {
			this.client = client;
			this.job = job;
			this.emitter = emitter;
		}

		@Override
		public void run() {
			try {
				write();
			}
			finally {
				this.writing.set(false);
			}
		}

		private void write() {
			JobStatus status = this.job.get();
			boolean ended = !status.state().isActive();
			// Two ticks may have the same time: within a millisecond, or if the status of
			// another instance's job was not read again.
			this.id = Math.max(this.id + 1, status.progress().elapsedMillis());
			try {
				if (this.emitter instanceof SseEmitter events) {
					events.send(SseEmitter.event()
						.id((ended) ? END : String.valueOf(this.id))
						.name((ended) ? END : "progress")
						.data(status, MediaType.APPLICATION_JSON));
				}
				else {
					this.emitter.send(ProgressLine.of(status), TEXT);
				}
				if (ended) {
					unsubscribe();
					this.emitter.complete();
				}
			}
			catch (IOException | IllegalStateException ex) {
				// The subscriber has disconnected. The web server ends the request.
				unsubscribe();
			}
		}

		/** Removes the subscriber and releases its permit, once. */
		private void unsubscribe() {
			if (JobEvents.this.subscribers.remove(this)) {
				JobEvents.this.permits.leave(this.client);
			}
		}

	}

}
