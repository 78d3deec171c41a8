package io.pipeset.web;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.pipeset.input.JobInput;
import io.pipeset.input.UploadedRecords;
import io.pipeset.record.Effect;
import io.pipeset.record.Operation;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobMeters;
import io.pipeset.request.Callbacks;
import io.pipeset.request.Client;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.JobSettings;
import io.pipeset.request.Setting;
import io.pipeset.run.Admission;
import io.pipeset.run.JobId;
import io.pipeset.run.JobOwner;
import io.pipeset.run.JobRequest;
import io.pipeset.run.JobRequest.Values;
import io.pipeset.run.Jobs;
import io.pipeset.run.Requirements;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/** Runs the jobs of records for requests, whether the caller waits or not. */
@Component
class RecordCalls {

	private final Jobs jobs;

	private final JobMeters meters;

	private final Reports reports;

	private final AsyncJobs async;

	private final KeyedJobs keyed;

	private final Callbacks callbacks;

	private final Requirements requirements;

	RecordCalls(Jobs jobs, JobMeters meters, Reports reports, AsyncJobs async, KeyedJobs keyed, Callbacks callbacks,
			Requirements requirements) {
		this.requirements = requirements;
		this.callbacks = callbacks;
		this.jobs = jobs;
		this.meters = meters;
		this.reports = reports;
		this.async = async;
		this.keyed = keyed;
	}

	/**
	 * Runs a job, and answers its request.
	 * @param input the records, not read yet
	 * @param values where the report lists popped values
	 * @throws IOException if the response cannot be written
	 */
	void run(JobInput input, JobSettings settings, Values values, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		JobRequest job = new JobRequest(owner(), input, settings, values);
		check(job, request);
		String key = IdempotencyKey.of(request);
		if (key != null) {
			this.keyed.run(keyed(key, job.id(), request), settings, input, () -> job, request, response);
		}
		else if (AsyncJobs.isRequested(request)) {
			this.async.begin(job, request, response, this.jobs::run);
		}
		else {
			this.reports.answer(this.jobs.run(job, CallerConnection.of(request)), JobKind.RECORDS, request, response);
		}
	}

	/**
	 * Runs a job whose input is fetched, and answers its request. A request whose key
	 * another job has is answered before anything is fetched.
	 * @param source opens the input
	 * @throws IOException if the response cannot be written
	 */
	void runFetched(Supplier<JobInput> source, JobSettings settings, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		AtomicReference<@Nullable JobInput> opened = new AtomicReference<>();
		String id = JobId.next();
		Supplier<JobRequest> checked = () -> {
			JobInput input = fetch(source);
			opened.set(input);
			JobRequest job = new JobRequest(id, owner(), input, settings, Values.IN_ITEMS, null, null);
			check(job, request);
			return job;
		};
		String key = IdempotencyKey.of(request);
		try {
			if (key != null) {
				this.keyed.run(keyed(key, id, request), settings, null, checked, request, response);
			}
			else if (AsyncJobs.isRequested(request)) {
				this.async.begin(checked.get(), request, response, this.jobs::run);
			}
			else {
				this.reports.answer(this.jobs.run(checked.get(), CallerConnection.of(request)), JobKind.RECORDS,
						request, response);
			}
		}
		catch (JobRefusedException | ErrorResponseException ex) {
			// A caller that is gone when its job is accepted leaves the input to the job.
			JobInput input = opened.get();
			if (input != null) {
				input.close();
			}
			throw ex;
		}
	}

	/** Opens the input. Meanwhile this counts as a job of the client. */
	private JobInput fetch(Supplier<JobInput> source) {
		Semaphore permit = this.jobs.take(CurrentClient.get());
		try {
			return source.get();
		}
		finally {
			permit.release();
		}
	}

	private KeyedJobs.KeyedJob keyed(String key, String jobId, HttpServletRequest request) {
		return new KeyedJobs.KeyedJob(owner(), IdempotencyKey.ofClient(CurrentClient.get(), key), jobId,
				IdempotencyKey.digest(request));
	}

	private JobOwner owner() {
		Client client = CurrentClient.get();
		return new JobOwner(this.meters.of(client.name()), client, null);
	}

	/** Refuses a job that its client may not run, or not so. */
	private void check(JobRequest job, HttpServletRequest request) {
		Client client = job.client();
		JobInput input = job.input();
		JobSettings settings = job.settings();
		Admission.require(client, settings, input);
		Uploads.refuseUselessJitter(settings, input, request);
		if (input.limit() != null && settings.records().replace() != null) {
			throw Problems.exception(Problem.INVALID_SETTING,
					"'limit' reads the first records alone, and 'replace' would"
							+ " remove the keys of all others: give one of them");
		}
		Long rateLimit = settings.pace().rateLimit();
		if (!Objects.equals(client.rateLimit(rateLimit), rateLimit)
				&& Query.of(request).has(Setting.RATE_LIMIT.name())) {
			client.requireRateLimit(rateLimit);
		}
		if (settings.batching().exactlyOnce() && !(input instanceof UploadedRecords)) {
			throw Problems.exception(Problem.INVALID_SETTING, "'exactlyOnce' needs records that can be had twice: an"
					+ " upload or a URL, and no query, sweep, generated records or pops");
		}
		this.requirements.requireNoEviction(settings);
		boolean waits = !AsyncJobs.isRequested(request);
		if (settings.reporting().callback() != null) {
			if (waits) {
				throw Problems.exception(Problem.INVALID_SETTING,
						"'callback' has a meaning only with Prefer: respond-async: this request waits for the report");
			}
			this.callbacks.require(client, settings.reporting().callback());
		}
		if (IdempotencyKey.of(request) != null || !waits) {
			refuseUnsafePop(job);
		}
	}

	/** Refuses a pop whose values would be lost with its response. */
	private static void refuseUnsafePop(JobRequest job) {
		Operation operation = job.settings().records().operation();
		if (operation != null && job.settings().records().only() && operation.effect() == Effect.POP
				&& job.settings().writes() && !(job.input() instanceof JobInput.Popped)) {
			throw AsyncJobs
				.popRefused((job.values() == Values.APART) ? "/piperpop without reliable=true" : "op=" + operation);
		}
	}

}
