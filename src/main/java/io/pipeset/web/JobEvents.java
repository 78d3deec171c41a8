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

import io.pipeset.job.Client;
import io.pipeset.job.ClientPermits;
import io.pipeset.job.JobLimits;
import io.pipeset.report.JobStatus;
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
 * Tells subscribers how far a job has come, four times a second, until it has ended: as
 * <a href="https://html.spec.whatwg.org/multipage/server-sent-events.html">Server-Sent
 * Events</a>, or as a line for a terminal. A subscriber that does not read skips what it
 * has missed, keeps nobody else waiting, and is left when the web server gives up writing
 * to it.
 */
@Component
class JobEvents {

	/** The name of the last event, and its id. */
	private static final String END = "end";

	private static final long TICK_MILLIS = 250;

	private static final MediaType TEXT = MediaType.valueOf("text/plain;charset=UTF-8");

	private final ClientPermits places;

	private final Set<Subscriber> subscribers = ConcurrentHashMap.newKeySet();

	/** A thread for each subscriber to which something is being written. */
	private final ExecutorService writers;

	JobEvents(JobLimits limits) {
		this.places = new ClientPermits(limits.maxEventStreams(), "streams of events",
				"pipeset.limits.max-event-streams=" + limits.maxEventStreams() + " allows");
		CustomizableThreadFactory threads = new CustomizableThreadFactory("events-");
		threads.setDaemon(true);
		this.writers = Executors.newCachedThreadPool(threads);
	}

	/**
	 * Tells a caller of a job from now on.
	 * @param client the client that asks for it
	 * @param job tells how the job stands, which may have ended
	 * @param request says in which form, and what the caller has heard already
	 * @return the stream; without one if the caller has heard all
	 * @throws ErrorResponseException if there are too many subscribers
	 */
	ResponseEntity<ResponseBodyEmitter> subscribe(Client client, Supplier<JobStatus> job, HttpServletRequest request) {
		if (END.equals(request.getHeader("Last-Event-ID"))) {
			return ResponseEntity.noContent().build();
		}
		boolean text = wantsText(request);
		ResponseEntity.BodyBuilder answer = ResponseEntity.ok()
			.contentType((text) ? TEXT : MediaType.TEXT_EVENT_STREAM)
			// A proxy that collects answers would show them all at once.
			.header("X-Accel-Buffering", "no");
		if (HttpMethod.HEAD.matches(request.getMethod())) {
			// Nothing would ever be written, by which a subscriber is found to be gone.
			return answer.build();
		}
		if (!this.places.tryTake(client)) {
			throw Problems.exception(Problem.TOO_MANY,
					this.places.refusal(client) + ": ask again later, or look at the job itself");
		}
		ResponseBodyEmitter emitter = (text) ? new ResponseBodyEmitter(-1L) : new SseEmitter(-1L);
		Subscriber subscriber = new Subscriber(client, job, emitter);
		this.subscribers.add(subscriber);
		emitter.onCompletion(subscriber::leave);
		emitter.onError((ex) -> subscriber.leave());
		subscriber.run();
		return answer.body(emitter);
	}

	/** Writes to all subscribers to which nothing is being written. */
	@Scheduled(fixedRate = TICK_MILLIS)
	void tick() {
		for (Subscriber subscriber : this.subscribers) {
			if (subscriber.writing.compareAndSet(false, true)) {
				try {
					this.writers.execute(subscriber);
				}
				catch (RejectedExecutionException | OutOfMemoryError ex) {
					// It has its turn again at the next tick, if there is a thread then.
					subscriber.writing.set(false);
				}
			}
		}
	}

	/** How many streams are open. */
	int count() {
		return this.subscribers.size();
	}

	@PreDestroy
	void shutDown() {
		this.writers.shutdown();
	}

	/** Whether text is asked for by its name. */
	private static boolean wantsText(HttpServletRequest request) {
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

		/** From the beginning, so that no tick comes before the first event. */
		private final AtomicBoolean writing = new AtomicBoolean(true);

		/** The id of the last event. One thread at a time writes. */
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
			// Ticks may come within a millisecond, or find the same look at another's
			// job.
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
					leave();
					this.emitter.complete();
				}
			}
			catch (IOException | IllegalStateException ex) {
				// The subscriber is gone; the web server ends the request.
				leave();
			}
		}

		/** Gives its place back, once. */
		private void leave() {
			if (JobEvents.this.subscribers.remove(this)) {
				JobEvents.this.places.leave(this.client);
			}
		}

	}

}
