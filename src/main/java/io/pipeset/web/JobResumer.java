package io.pipeset.web;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;

import io.pipeset.keep.InterruptedJob;
import io.pipeset.keep.Job;
import io.pipeset.keep.JobRecorder;
import io.pipeset.keep.JobRegistry;
import io.pipeset.keep.ResumeProperties;
import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.report.DurationText;
import io.pipeset.request.Client;
import io.pipeset.request.Clients;
import io.pipeset.request.JobRefusedException;
import io.pipeset.web.problem.Problem;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/**
 * Resumes interrupted jobs without a request: those that the service finds when it
 * starts, and those of other processes that end while it runs, if their spool folders are
 * next to its own. A job that must not run twice, or whose process ended long ago, stays
 * interrupted, and its status says why.
 */
@Component
@EnableConfigurationProperties(ResumeProperties.class)
class JobResumer {

	private static final Logger logger = LoggerFactory.getLogger(JobResumer.class);

	private static final Duration PERIOD = Duration.ofSeconds(5);

	private final ResumeProperties properties;

	private final JobRegistry registry;

	private final JobRecorder recorder;

	private final AsyncJobs async;

	private final Clients clients;

	private final TaskScheduler scheduler;

	/** The jobs that stay interrupted until a request resumes them. */
	private final Set<String> left = new HashSet<>();

	/** Why each job could not be resumed yet, so that the log has a reason once. */
	private final Map<String, String> delays = new HashMap<>();

	private @Nullable ScheduledFuture<?> ticks;

	JobResumer(ResumeProperties properties, JobRegistry registry, JobRecorder recorder, AsyncJobs async,
			Clients clients, TaskScheduler scheduler) {
		this.scheduler = scheduler;
		this.properties = properties;
		this.registry = registry;
		this.recorder = recorder;
		this.async = async;
		this.clients = clients;
	}

	@EventListener(ApplicationReadyEvent.class)
	void start() {
		if (this.properties.resume() == ResumeProperties.Resume.MANUAL) {
			for (Job job : this.registry.all()) {
				InterruptedJob found = job.interrupted();
				if (found != null) {
					leave(job, found, byRequest(job, "pipeset.jobs.resume is manual"));
				}
			}
			return;
		}
		this.ticks = this.scheduler.scheduleWithFixedDelay(this::resumeAll, PERIOD);
	}

	/** Takes over the jobs of ended processes, and resumes all that may be resumed. */
	private void resumeAll() {
		try {
			takeOverAndResume();
		}
		catch (RuntimeException ex) {
			logger.error("Interrupted jobs could not be resumed", ex);
		}
	}

	private void takeOverAndResume() {
		this.recorder.takeOver();
		for (Job job : this.registry.all()) {
			InterruptedJob found = job.interrupted();
			if (found != null && !this.left.contains(job.id())) {
				resume(job, found);
			}
		}
		this.left.removeIf((id) -> this.registry.find(id).isEmpty());
		this.delays.keySet().removeIf((id) -> this.registry.find(id).isEmpty());
	}

	private void resume(Job job, InterruptedJob found) {
		long millis = System.currentTimeMillis() - found.processEndedMillis();
		if (millis > this.properties.resumeWithin().toMillis()) {
			leave(job, found, byRequest(job, "its process ended longer ago than pipeset.jobs.resume-within="
					+ DurationText.of(this.properties.resumeWithin()) + ", and its records may be out of date"));
			return;
		}
		Client client = this.clients.find(found.client());
		if (client == null) {
			leave(job, found, byRequest(job, "its client '" + found.client() + "' is not in pipeset.clients"));
			return;
		}
		try {
			this.recorder.hearOf(job);
			if (job.interrupted() == found) {
				this.async.resume(client, found);
				this.delays.remove(job.id());
				logger.atInfo()
					.addKeyValue("jobId", job.id())
					.log("Job {} is resumed after its process ended", job.id());
			}
		}
		catch (ErrorResponseException ex) {
			String detail = String.valueOf(ex.getBody().getDetail());
			if (isFinal(ex)) {
				leave(job, found, detail);
			}
			else {
				delay(job, found, detail);
			}
		}
		catch (ControlRedisException | JobRefusedException ex) {
			delay(job, found, ex.getMessage());
		}
		catch (RuntimeException ex) {
			// A defect in one job does not delay the others.
			delay(job, found, ex.toString());
		}
	}

	private static boolean isFinal(ErrorResponseException ex) {
		String type = String.valueOf(ex.getBody().getType());
		return type.endsWith(":" + Problem.NOT_REPEATABLE.type()) || type.endsWith(":" + Problem.GONE.type());
	}

	private void delay(Job job, InterruptedJob found, @Nullable String reason) {
		String text = withoutStop(String.valueOf(reason));
		if (!text.equals(this.delays.put(job.id(), text))) {
			logger.atWarn()
				.addKeyValue("jobId", job.id())
				.log("Job {} cannot be resumed yet, and is tried again: {}", job.id(), text);
			job.setRemedy(found, "It cannot be resumed yet, and is tried again: " + text);
		}
	}

	private static String byRequest(Job job, String reason) {
		return "The service does not resume it, because " + reason + ". Resume it with POST /v1/jobs/" + job.id()
				+ "/resume, or cancel it with DELETE /v1/jobs/" + job.id();
	}

	private static String withoutStop(String text) {
		return (text.endsWith(".")) ? text.substring(0, text.length() - 1) : text;
	}

	/** Leaves a job to its caller. */
	private void leave(Job job, InterruptedJob found, String remedy) {
		this.left.add(job.id());
		job.setRemedy(found, withoutStop(remedy));
		logger.atWarn().addKeyValue("jobId", job.id()).log("Job {} stays interrupted. {}", job.id(), remedy);
	}

	@PreDestroy
	void end() {
		if (this.ticks != null) {
			this.ticks.cancel(false);
		}
	}

}
