package io.pipeset.web;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.pipeset.keyspace.Analysis;
import io.pipeset.keyspace.tuning.TuningReport;
import io.pipeset.report.JobReport;
import io.pipeset.web.problem.Problem;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.RequestMethod;

/**
 * The table of the HTTP calls. Requests are mapped by it, and the start page and the
 * OpenAPI document are made from it. The table in docs/calls.md must agree with it.
 */
public enum Call {

	LIST_CALLS(RequestMethod.GET, "/", "Lists these calls as JSON, or as a page for browsers.", Body.NONE, Group.EVERY,
			Answer.json(CallList.class, "The calls."), Answer.text(MediaType.TEXT_HTML_VALUE, "The calls as a page.")),

	GET_DOCUMENT(RequestMethod.GET, "/v3/api-docs",
			"Returns the [OpenAPI document](openapi.md), from which clients can be generated.", Body.NONE, Group.EVERY,
			Answer.json(Map.class, "The document.")),

	PIPESET(RequestMethod.POST, "/pipeset/{count}",
			"Without a body: generates `SET keyA00000 value-00000` and so on. With a body: runs its records, each of them a SET.",
			Body.UPLOAD, Group.UPLOAD, Answer.REPORT, Answer.ACCEPTED),

	PIPEHSET(RequestMethod.POST, "/pipehset/{count}",
			"Without a body: generates `HSET hashA00000 id 0 value value-00000` and so on. With a body: runs its records, each of them a HSET.",
			Body.UPLOAD, Group.UPLOAD, Answer.REPORT, Answer.ACCEPTED),

	PIPERPOP(RequestMethod.POST, "/piperpop/{count}",
			"Runs RPOP `count` times. The report has the values in `values`, in pop order. With [`until=empty`](#pops) it"
					+ " stops at the first empty answer; with [`reliable=true`](reliable-pop.md) no value is lost.",
			Body.NONE, Group.SHORTCUT, Answer.REPORT, Answer.ACCEPTED),

	LISTINPUT(RequestMethod.POST, "/listinput/{key}", "Generates `LPUSH key value-00000` and so on.", Body.NONE,
			Group.SHORTCUT, Answer.REPORT, Answer.ACCEPTED),

	RUN_JOB(RequestMethod.POST, "/v1/jobs",
			"Runs the records of the body. With `from=scan` it runs a record for each key that SCAN finds: see [sweeps](#sweeps)."
					+ " With `from=url` or `from=query` it fetches the records itself: see [sources](sources.md).",
			Body.UPLOAD, Group.JOB, Answer.REPORT, Answer.ACCEPTED),

	LIST_SOURCES(RequestMethod.GET, "/v1/sources",
			"Lists the URLs and queries that the caller may load records from: see [sources](sources.md).", Body.NONE,
			Group.EVERY, Answer.json(SourcesController.SourceList.class, "The sources.")),

	LIST_JOBS(RequestMethod.GET, "/v1/jobs", "Lists the [jobs](jobs.md), the newest first.", Body.NONE, Group.LIST,
			Answer.json(JobDirectory.JobList.class, "A page of the list.")),

	GET_JOB(RequestMethod.GET, "/v1/jobs/{id}", "Returns the report of a [job](jobs.md), also while it runs.",
			Body.NONE, Group.KNOWN, Answer.json(JobViews.Look.class, "The report, with the progress.")),

	FOLLOW_JOB(RequestMethod.GET, "/v1/jobs/{id}/events",
			"Streams the [progress](jobs.md#progress) of a job until it has ended: as Server-Sent Events, or as a line for a terminal.",
			Body.NONE, Group.KNOWN, Answer.text(MediaType.TEXT_EVENT_STREAM_VALUE, "Events; `end` is the last one."),
			Answer.text(MediaType.TEXT_PLAIN_VALUE, "Lines."),
			Answer.empty(HttpStatus.NO_CONTENT, "The caller has received `end` already.")),

	LIST_ITEMS(RequestMethod.GET, "/v1/jobs/{id}/items",
			"Lists [every record](jobs.md#every-failure) of an asynchronous upload that did not run as requested, to be posted again.",
			Body.NONE, Group.ITEMS, Answer.text("application/x-ndjson", "The records, one on each line.")),

	CANCEL_JOB(RequestMethod.DELETE, "/v1/jobs/{id}", "[Cancels](jobs.md#cancelling-a-job) a job.", Body.NONE,
			Group.CHANGE, Answer.ACCEPTED),

	PACE_JOB(RequestMethod.PATCH, "/v1/jobs/{id}",
			"[Changes the rate limit](jobs.md#changing-the-rate-limit) of a job.", Body.NONE, Group.RATE_LIMIT,
			Answer.json(JobViews.Look.class, "The report, with the progress."), Answer.ACCEPTED),

	RESUME_JOB(RequestMethod.POST, "/v1/jobs/{id}/resume",
			"Resumes an asynchronous upload whose [process ended](async.md#jobs-whose-process-ended).", Body.NONE,
			Group.RESUME, Answer.ACCEPTED),

	ACKNOWLEDGE_VALUES(RequestMethod.POST, "/v1/jobs/{id}/ack",
			"Acknowledges the values of a [reliable pop](reliable-pop.md).", Body.NONE, Group.RECEIPT,
			Answer.empty(HttpStatus.NO_CONTENT, "The values are deleted from Redis."), Answer.UNDER_WAY),

	GIVE_BACK_VALUES(RequestMethod.POST, "/v1/jobs/{id}/nack",
			"Returns the values of a [reliable pop](reliable-pop.md) to their list.", Body.NONE, Group.RECEIPT,
			Answer.empty(HttpStatus.NO_CONTENT, "The values are in their list again."), Answer.UNDER_WAY),

	LOAD_SCRIPT(RequestMethod.POST, "/v1/scripts",
			"Loads the Lua script in the body, and returns its SHA1: see [scripts](#scripts).", Body.SCRIPT,
			Group.SCRIPT, Answer.json(ScriptsController.LoadedScript.class, "The script's name in EVALSHA.")),

	ANALYSE(RequestMethod.POST, "/v1/analyses", "Scans all keys, and [reports which take the memory](analyses.md).",
			Body.NONE, Group.TASK, Answer.json(Analysis.class, "The totals."),
			Answer.text("text/csv", "Only the prefixes."), Answer.ACCEPTED),

	TUNE(RequestMethod.POST, "/v1/tunings", "[Finds the best settings](tuning.md) for this Redis by measuring.",
			Body.NONE, Group.TASK, Answer.json(TuningReport.class, "The measurements, and the row to use."),
			Answer.ACCEPTED);

	private final RequestMethod method;

	private final String path;

	private final String meaning;

	private final Body body;

	private final Set<Problem> problems;

	private final List<Answer> answers;

	Call(RequestMethod method, String path, String meaning, Body body, Group group, Answer... answers) {
		this.method = method;
		this.path = path;
		this.meaning = meaning;
		this.body = body;
		this.problems = group.problems;
		this.answers = List.of(answers);
	}

	/** The HTTP method of the call. */
	public RequestMethod method() {
		return this.method;
	}

	/** The path of the call, with its variable in braces. */
	public String path() {
		return this.path;
	}

	/** What the call does: sentences in Markdown, with links as in docs/calls.md. */
	public String meaning() {
		return this.meaning;
	}

	/** The kind of body that requests may have. */
	public Body body() {
		return this.body;
	}

	/** The responses of the call that are not problems. */
	public List<Answer> answers() {
		return this.answers;
	}

	/** The problems that the call may respond with. */
	public Set<Problem> problems() {
		return this.problems;
	}

	/** Whether requests may have {@code Prefer: respond-async}. */
	public boolean isAsynchronous() {
		return this.answers.contains(Answer.ACCEPTED) && this.method == RequestMethod.POST && this != RESUME_JOB;
	}

	/** Whether the call runs records, so that it may have an {@code Idempotency-Key}. */
	public boolean runsRecords() {
		return this.answers.contains(Answer.REPORT);
	}

	/** The path without its variable, by which settings name the call. */
	String shortcut() {
		int variable = this.path.indexOf("/{");
		return (variable < 0) ? this.path : this.path.substring(0, variable);
	}

	/** The kind of body that a request may have. */
	public enum Body {

		/** No body is allowed. */
		NONE,

		/** Records in one of the formats. Without a body, the call makes the records. */
		UPLOAD,

		/** The text of a script. */
		SCRIPT

	}

	/**
	 * A response that is not a problem.
	 *
	 * @param mediaType the media type of its body; {@code null} for none
	 * @param type the class of a JSON body; {@code null} for other bodies
	 * @param meaning what the response says: a sentence in Markdown
	 */
	public record Answer(HttpStatus status, @Nullable String mediaType, @Nullable Class<?> type, String meaning) {

		static final Answer REPORT = json(JobReport.class, "The job completed: the outcome of each of its records.");

		/** A job, or a request to change a job, was accepted. */
		public static final Answer ACCEPTED = new Answer(HttpStatus.ACCEPTED, MediaType.APPLICATION_JSON_VALUE,
				JobViews.StatusView.class,
				"The job, or the request to change it, is accepted. `Location` is the path of the job.");

		static final Answer UNDER_WAY = empty(HttpStatus.ACCEPTED,
				"The same, as soon as Redis can do it. To check it, send the request again.");

		private static Answer json(Class<?> type, String meaning) {
			return new Answer(HttpStatus.OK, MediaType.APPLICATION_JSON_VALUE, type, meaning);
		}

		private static Answer text(String mediaType, String meaning) {
			return new Answer(HttpStatus.OK, mediaType, null, meaning);
		}

		private static Answer empty(HttpStatus status, String meaning) {
			return new Answer(status, null, null, meaning);
		}

	}

	/**
	 * The start page as JSON.
	 *
	 * @param version the version of the service
	 * @param redis the configured name of the Redis that the service loads
	 * @param document the path of the OpenAPI document
	 */
	public record CallList(String version, String redis, List<Row> calls, String document) {

		/** A call on the start page. */
		public record Row(String method, String path, String meaning) {

		}

	}

	/**
	 * Groups of calls with the same problems. A group has its own problems and those of
	 * its parent.
	 */
	private enum Group {

		EVERY(null, Problem.BAD_REQUEST, Problem.UNAUTHORIZED, Problem.FOREIGN_REQUEST, Problem.TOO_MANY,
				Problem.REQUEST_HEADER_FIELDS_TOO_LARGE, Problem.INTERNAL_SERVER_ERROR, Problem.UNEXPECTED_BODY,
				Problem.UNKNOWN_SETTING, Problem.NOT_AVAILABLE),

		TASK(EVERY, Problem.INVALID_SETTING, Problem.FORBIDDEN, Problem.DISABLED, Problem.CANCELLED, Problem.STOPPED,
				Problem.REDIS_REFUSES_THE_REST, Problem.REDIS_LOST, Problem.REDIS_REFUSES, Problem.REDIS_UNREACHABLE,
				Problem.SHUTTING_DOWN),

		RECORDS(TASK, Problem.INVALID_HEADER, Problem.IDEMPOTENCY_KEY_IN_USE, Problem.INTERRUPTED,
				Problem.IDEMPOTENCY_KEY_REUSED, Problem.CONTROL_UNREACHABLE),

		SHORTCUT(RECORDS, Problem.INVALID_COUNT, Problem.INVALID_KEY),

		UPLOAD(RECORDS, Problem.INVALID_COUNT, Problem.MALFORMED_BODY, Problem.STALLED, Problem.TOO_LARGE,
				Problem.UNSUPPORTED_MEDIA_TYPE, Problem.UNSUPPORTED_CONTENT_ENCODING, Problem.COUNT_MISMATCH,
				Problem.INSUFFICIENT_STORAGE),

		JOB(UPLOAD, Problem.SOURCE_FAILED),

		LIST(EVERY, Problem.INVALID_SETTING),

		KNOWN(EVERY, Problem.NOT_FOUND, Problem.CONTROL_UNREACHABLE),

		ITEMS(KNOWN, Problem.INVALID_SETTING, Problem.NOT_ENDED, Problem.NO_ITEMS, Problem.HELD_ELSEWHERE, Problem.GONE,
				Problem.SOURCE_FAILED),

		CHANGE(KNOWN, Problem.ENDED, Problem.NOT_INTERRUPTED),

		RATE_LIMIT(CHANGE, Problem.INVALID_SETTING, Problem.FORBIDDEN),

		RESUME(CHANGE, Problem.NOT_REPEATABLE, Problem.HELD_ELSEWHERE, Problem.GONE, Problem.REDIS_UNREACHABLE,
				Problem.NO_ROOM, Problem.SHUTTING_DOWN, Problem.SOURCE_FAILED),

		RECEIPT(KNOWN, Problem.RECEIPT_PENDING, Problem.GONE, Problem.REDIS_REFUSES, Problem.REDIS_UNREACHABLE),

		SCRIPT(EVERY, Problem.FORBIDDEN, Problem.INVALID_SCRIPT, Problem.UNSUPPORTED_CONTENT_ENCODING, Problem.STALLED,
				Problem.TOO_LARGE, Problem.REDIS_REFUSES, Problem.REDIS_UNREACHABLE);

		private final Set<Problem> problems;

		Group(@Nullable Group parent, Problem... own) {
			Set<Problem> problems = EnumSet.noneOf(Problem.class);
			problems.addAll((parent != null) ? parent.problems : Set.of());
			problems.addAll(List.of(own));
			this.problems = Collections.unmodifiableSet(problems);
		}

	}

}
