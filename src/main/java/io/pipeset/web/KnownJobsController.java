package io.pipeset.web;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import io.pipeset.input.SourceException;
import io.pipeset.input.source.UrlSources;
import io.pipeset.keep.JobItems;
import io.pipeset.keep.SpoolException;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.request.Allowed;
import io.pipeset.request.Client;
import io.pipeset.request.Setting;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;

/**
 * The calls for existing jobs: they list and query jobs, and cancel, slow down and resume
 * them.
 */
@RestController
class KnownJobsController {

	private static final String ITEMS = "application/x-ndjson";

	private static final Logger logger = LoggerFactory.getLogger(KnownJobsController.class);

	static final Setting<JobState> STATE = parameter("state", Allowed.of("one of " + String.join(", ", stateLabels()),
			KnownJobsController::state, Map.of("type", "string", "enum", stateLabels())), null,
			"Lists only the jobs in this state.");

	static final Setting<JobKind> KIND = parameter("kind", Allowed.of("one of " + String.join(", ", kindLabels()),
			KnownJobsController::kind, Map.of("type", "string", "enum", kindLabels())), null,
			"Lists only the jobs of this kind.");

	static final Setting<Integer> LIMIT = parameter("limit", Allowed.integer(1, 1000), "100",
			"The most jobs on a page.");

	static final Setting<String> AFTER = parameter("after",
			Allowed.of("the id of a job", (text) -> (JobIds.matches(text)) ? text : null,
					Map.of("type", "string", "pattern", JobIds.PATTERN)),
			null, "The id after which the page begins: `next` of the previous page.");

	/** 0 for no limit. */
	static final Setting<Long> RATE_LIMIT = parameter("rateLimit",
			Allowed.of("none, or " + Setting.RATE_LIMIT.allowed().text(),
					(text) -> (text.equals("none")) ? Long.valueOf(0)
							: Setting.RATE_LIMIT.allowed().parser().apply(text),
					Map.of("anyOf", List.of(Setting.RATE_LIMIT.allowed().schema(), Map.of("const", "none")))),
			null, "The rate limit from now on; `none` removes it.");

	private static final List<String> LISTED = List.of("noop", "rejected", "unknown", "unprocessed", "different",
			"missing");

	static final Setting<Set<String>> STATUS = parameter("status",
			Allowed.of("one or more of " + String.join(", ", LISTED) + ", with commas between them",
					KnownJobsController::statuses,
					Map.of("type", "string", "pattern",
							"^(" + String.join("|", LISTED) + ")(,(" + String.join("|", LISTED) + "))*$")),
			null,
			"Lists only the records with these outcomes; without it, rejected,unknown,unprocessed, and of a job that"
					+ " verifies different,missing.");

	private static final int MOST_DOWNLOADS = 8;

	private final CallPermits downloads = new CallPermits(MOST_DOWNLOADS, "lists of items");

	private final JobDirectory jobs;

	private final AsyncJobs async;

	private final JobEvents events;

	private final UrlSources urls;

	KnownJobsController(JobDirectory jobs, AsyncJobs async, JobEvents events, UrlSources urls) {
		this.urls = urls;
		this.jobs = jobs;
		this.async = async;
		this.events = events;
	}

	@CallMapping(Call.LIST_JOBS)
	ResponseEntity<JobDirectory.JobList> list(HttpServletRequest request) {
		Query query = queryWithoutBody(request);
		JobState state = STATE.take(query::take).orElse(null);
		JobKind kind = KIND.take(query::take).orElse(null);
		String after = AFTER.take(query::take).orElse(null);
		int limit = LIMIT.takeOrDefault(query::take);
		LIMIT.check(limit);
		query.refuseRest(List.of(STATE.name(), KIND.name(), LIMIT.name(), AFTER.name()));
		return JobViews.json(ResponseEntity.ok()).body(this.jobs.page(CurrentClient.get(), state, kind, after, limit));
	}

	@CallMapping(Call.GET_JOB)
	ResponseEntity<?> get(@PathVariable String id, HttpServletRequest request) {
		PlainRequest.require(request);
		return this.jobs.find(id, CurrentClient.get()).view();
	}

	@CallMapping(Call.FOLLOW_JOB)
	ResponseEntity<ResponseBodyEmitter> events(@PathVariable String id, HttpServletRequest request) {
		PlainRequest.require(request);
		Client client = CurrentClient.get();
		return this.events.subscribe(client, this.jobs.find(id, client).follow(), request);
	}

	@CallMapping(Call.LIST_ITEMS)
	void items(@PathVariable String id, HttpServletRequest request, HttpServletResponse response) throws IOException {
		Query query = queryWithoutBody(request);
		Set<String> statuses = STATUS.take(query::take).orElse(null);
		query.refuseRest(List.of(STATUS.name()));
		Client client = CurrentClient.get();
		JobItems items = this.jobs.find(id, client).items();
		if (items == null) {
			response.setContentType(ITEMS);
			return;
		}
		refuseIfMissing(items);
		this.urls.require(client, items.body().bytes());
		try {
			OutputStream output = this.downloads.run(client, request, () -> {
				response.setContentType(ITEMS);
				OutputStream out = new BufferedOutputStream(response.getOutputStream(), 64 << 10);
				items.write(statuses, out);
				return out;
			});
			output.flush();
		}
		catch (IOException ex) {
			if (ex instanceof SpoolException && response.isCommitted()) {
				logger.atWarn()
					.addKeyValue("jobId", id)
					.log("The items of job {} could not be read to the end: {}", id,
							Objects.requireNonNullElse(items.missing(), ex.getMessage()));
				throw CallerConnection.endAnswer(ex);
			}
			if (response.isCommitted()) {
				throw ex;
			}
			// Nothing was sent, because the files could not be read.
			response.reset();
			refuseIfMissing(items);
			if (ex instanceof SourceException) {
				throw Problems.exception(Problem.SOURCE_FAILED,
						"The job's records cannot be read again. " + ex.getMessage());
			}
			throw Problems.exception(Problem.GONE, "The job's records cannot be read any more. " + ex.getMessage());
		}
	}

	private static void refuseIfMissing(JobItems items) {
		String missing = items.missing();
		if (missing != null) {
			throw Problems.exception(Problem.GONE, missing);
		}
	}

	@CallMapping(Call.CANCEL_JOB)
	ResponseEntity<JobStatus> cancel(@PathVariable String id, HttpServletRequest request) {
		PlainRequest.require(request);
		return this.jobs.find(id, CurrentClient.get()).cancel();
	}

	@CallMapping(Call.RESUME_JOB)
	void resume(@PathVariable String id, HttpServletRequest request, HttpServletResponse response) throws IOException {
		PlainRequest.require(request);
		Client client = CurrentClient.get();
		this.async.resume(client, this.jobs.find(id, client).interrupted(), response);
	}

	@CallMapping(Call.PACE_JOB)
	ResponseEntity<?> changeRateLimit(@PathVariable String id, HttpServletRequest request) {
		Query query = queryWithoutBody(request);
		long perSecond = RATE_LIMIT.take(query::take)
			.orElseThrow(() -> Problems.exception(Problem.INVALID_SETTING,
					"'rateLimit' is missing: it must be " + RATE_LIMIT.allowed().text()));
		query.refuseRest(List.of(RATE_LIMIT.name()));
		Client client = CurrentClient.get();
		JobHandle job = this.jobs.find(id, client);
		if (job.kind() == JobKind.TUNING) {
			throw Problems.exception(Problem.INVALID_SETTING,
					"'rateLimit' has no meaning for a tuning, which measures how"
							+ " fast Redis is: only other jobs have a rate limit");
		}
		client.requireRateLimit((perSecond > 0) ? perSecond : null);
		return job.changeRateLimit(perSecond);
	}

	private static Query queryWithoutBody(HttpServletRequest request) {
		Uploads.refuseBodyAndKey(request);
		return Query.of(request);
	}

	private static @Nullable Set<String> statuses(String text) {
		Set<String> statuses = new HashSet<>(Arrays.asList(text.split(",", -1)));
		return (LISTED.containsAll(statuses)) ? statuses : null;
	}

	private static @Nullable JobState state(String text) {
		return Stream.of(JobState.values()).filter((state) -> state.label().equals(text)).findFirst().orElse(null);
	}

	private static List<String> stateLabels() {
		return Stream.of(JobState.values()).map(JobState::label).toList();
	}

	private static @Nullable JobKind kind(String text) {
		return Stream.of(JobKind.values()).filter((kind) -> kind.label().equals(text)).findFirst().orElse(null);
	}

	private static List<String> kindLabels() {
		return Stream.of(JobKind.values()).map(JobKind::label).toList();
	}

	private static <T> Setting<T> parameter(String name, Allowed<T> allowed, @Nullable String defaultValue,
			String meaning) {
		return Setting.of(name, Call.LIST_JOBS.path(), allowed, defaultValue, meaning);
	}

}
