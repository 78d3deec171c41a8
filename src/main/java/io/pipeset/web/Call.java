package io.pipeset.web;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.pipeset.job.JobLimits;
import io.pipeset.job.settings.Allowed;
import io.pipeset.job.settings.Setting;
import io.pipeset.keyspace.Analysis;
import io.pipeset.keyspace.AnalysisSettings;
import io.pipeset.report.JobReport;
import io.pipeset.tuning.TuningReport;
import io.pipeset.tuning.TuningSettings;
import io.pipeset.web.problem.Problem;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.RequestMethod;

/**
 * The table of calls, a row each. Requests find their way by it; the start page, the
 * documentation and the OpenAPI document are made from it.
 */
public enum Call {

	/** The start page. */
	LIST_CALLS(RequestMethod.GET, "/", "Lists these calls: as JSON, and to browsers as a page.", Body.NONE, Group.EVERY,
			Answer.json(CallList.class, "The calls."), Answer.text(MediaType.TEXT_HTML_VALUE, "The same as a page.")),

	/** The document. */
	GET_DOCUMENT(RequestMethod.GET, "/v3/api-docs", "Has the [OpenAPI document](openapi.md), to make clients from.",
			Body.NONE, Group.EVERY, Answer.json(Map.class, "The document.")),

	/** Generated or uploaded SETs. */
	PIPESET(RequestMethod.POST, "/pipeset/{count}",
			"Without a body: `SET keyA00000 value-00000` and so on. With one: its records, each of them a SET.",
			Body.UPLOAD, Group.UPLOAD, Answer.REPORT, Answer.ACCEPTED),

	/** Generated or uploaded HSETs. */
	PIPEHSET(RequestMethod.POST, "/pipehset/{count}",
			"Without a body: `HSET hashA00000 id 0 value value-00000` and so on. With one: its records, each of them a HSET.",
			Body.UPLOAD, Group.UPLOAD, Answer.REPORT, Answer.ACCEPTED),

	/** Pops. */
	PIPERPOP(RequestMethod.POST, "/piperpop/{count}",
			"RPOP, count times; the values stand in `values`, in pop order. With [`until=empty`](#pops) up to the first"
					+ " empty answer; with [`reliable=true`](reliable-pop.md) no value is lost.",
			Body.NONE, Group.SHORTCUT, Answer.REPORT, Answer.ACCEPTED),

	/** Generated LPUSHs. */
	LISTINPUT(RequestMethod.POST, "/listinput/{key}", "`LPUSH key value-00000` and so on.", Body.NONE, Group.SHORTCUT,
			Answer.REPORT, Answer.ACCEPTED),

	/** Any records. */
	RUN_JOB(RequestMethod.POST, "/v1/jobs",
			"Runs the records of the body; with `from=scan` the keys that SCAN finds: see [sweeps](#sweeps).",
			Body.UPLOAD, Group.UPLOAD, Answer.REPORT, Answer.ACCEPTED),

	/** The jobs. */
	LIST_JOBS(RequestMethod.GET, "/v1/jobs", "Lists the [jobs](jobs.md) that there are, the newest first.", Body.NONE,
			Group.LIST, Answer.json(JobDirectory.JobList.class, "A page of the list.")),

	/** One job. */
	GET_JOB(RequestMethod.GET, "/v1/jobs/{id}", "Has the report of a [job](jobs.md), while it runs as well.", Body.NONE,
			Group.KNOWN, Answer.json(JobViews.Look.class, "The report, with the progress.")),

	/** The progress of one job. */
	FOLLOW_JOB(RequestMethod.GET, "/v1/jobs/{id}/events",
			"Tells the [progress](jobs.md#progress) of a job until it has ended: as Server-Sent Events, or as a line for a terminal.",
			Body.NONE, Group.KNOWN,
			Answer.text(MediaType.TEXT_EVENT_STREAM_VALUE, "Events, of which `end` is the last."),
			Answer.text(MediaType.TEXT_PLAIN_VALUE, "Lines."),
			Answer.empty(HttpStatus.NO_CONTENT, "The caller has heard `end` already.")),

	/** The records of one job. */
	LIST_ITEMS(RequestMethod.GET, "/v1/jobs/{id}/items",
			"Lists [every record](jobs.md#every-failure) of an asynchronous upload that did not run as asked, to be posted again.",
			Body.NONE, Group.ITEMS, Answer.text("application/x-ndjson", "The records, one a line.")),

	/** The end of one job. */
	CANCEL_JOB(RequestMethod.DELETE, "/v1/jobs/{id}", "[Cancels](jobs.md#cancelling-a-job) a job.", Body.NONE,
			Group.CHANGE, Answer.ACCEPTED),

	/** The pace of one job. */
	PACE_JOB(RequestMethod.PATCH, "/v1/jobs/{id}", "[Changes the pace](jobs.md#another-pace) of a job.", Body.NONE,
			Group.PACE, Answer.json(JobViews.Look.class, "The report, with the progress."), Answer.ACCEPTED),

	/** The rest of one job. */
	RESUME_JOB(RequestMethod.POST, "/v1/jobs/{id}/resume",
			"Goes on with an asynchronous upload whose [process ended](jobs.md#jobs-whose-process-ended).", Body.NONE,
			Group.RESUME, Answer.ACCEPTED),

	/** The end of a receipt. */
	ACKNOWLEDGE_VALUES(RequestMethod.POST, "/v1/jobs/{id}/ack",
			"Acknowledges the values of a [reliable pop](reliable-pop.md).", Body.NONE, Group.RECEIPT,
			Answer.empty(HttpStatus.NO_CONTENT, "The values are gone from Redis."), Answer.UNDER_WAY),

	/** The return of a receipt's values. */
	GIVE_BACK_VALUES(RequestMethod.POST, "/v1/jobs/{id}/nack",
			"Gives the values of a [reliable pop](reliable-pop.md) back to their list.", Body.NONE, Group.RECEIPT,
			Answer.empty(HttpStatus.NO_CONTENT, "The values are in their list."), Answer.UNDER_WAY),

	/** A script. */
	LOAD_SCRIPT(RequestMethod.POST, "/v1/scripts",
			"Loads the Lua script in the body, and answers with its SHA1: see [scripts](#scripts).", Body.SCRIPT,
			Group.SCRIPT, Answer.json(ScriptsController.LoadedScript.class, "The script's name in EVALSHA.")),

	/** A look at all keys. */
	ANALYSE(RequestMethod.POST, "/v1/analyses", "Looks at all keys, and [answers which take the memory](analyses.md).",
			Body.NONE, Group.TASK, Answer.json(Analysis.class, "The totals."),
			Answer.text("text/csv", "The prefixes alone."), Answer.ACCEPTED),

	/** A search for the best settings. */
	TUNE(RequestMethod.POST, "/v1/tunings", "[Finds the best settings](tuning.md) for this Redis by measuring.",
			Body.NONE, Group.TASK, Answer.json(TuningReport.class, "The figures, and the row to use."),
			Answer.ACCEPTED);

	private static final Pattern VARIABLE = Pattern.compile("\\{(\\w+)}");

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

	/** The method of its requests. */
	public RequestMethod method() {
		return this.method;
	}

	/** The pattern of its paths. */
	public String path() {
		return this.path;
	}

	/** A sentence in Markdown, with links as in docs/http.md. */
	public String meaning() {
		return this.meaning;
	}

	/** The body of its requests. */
	public Body body() {
		return this.body;
	}

	/** Its answers, but problems. */
	public List<Answer> answers() {
		return this.answers;
	}

	/** The problems that it may answer with. */
	public Set<Problem> problems() {
		return this.problems;
	}

	/** Whether {@code Prefer: respond-async} has a meaning for it. */
	public boolean isAsynchronous() {
		return this.answers.contains(Answer.ACCEPTED) && this.method == RequestMethod.POST && this != RESUME_JOB;
	}

	/** Whether its job may have an {@code Idempotency-Key}. */
	public boolean runsRecords() {
		return this.answers.contains(Answer.REPORT);
	}

	/** The variables of its path. */
	public List<Setting<?>> variables(JobLimits limits) {
		List<Setting<?>> variables = new ArrayList<>();
		Matcher variable = VARIABLE.matcher(this.path);
		while (variable.find()) {
			variables.add(switch (variable.group(1)) {
				case "count" -> count((this == PIPERPOP) ? limits.maxPopped() : limits.maxGenerated(), null,
						"The number of records.");
				case "key" -> Setting.of("key", this.path,
						Allowed.of("a key without / ; % and \\", Function.identity(),
								Map.of("type", "string", "minLength", 1, "pattern", "^[^/;%\\\\]+$")),
						null, "The list.");
				default -> Setting.of("id", this.path,
						Allowed.of("the id of a job", Function.identity(),
								Map.of("type", "string", "pattern", JobIds.PATTERN)),
						null, "The `jobId` of the report.");
			});
		}
		return variables;
	}

	/** The parameters of its query string. */
	public List<Setting<?>> parameters(JobLimits limits) {
		return switch (this) {
			case PIPESET, PIPEHSET -> Setting.of(shortcut());
			case PIPERPOP -> join(List.of(ShortcutsController.LIST), Setting.of(shortcut()));
			case LISTINPUT ->
				join(List.of(count(limits.maxGenerated(), ShortcutsController.DEFAULT_PUSHES, "The number of values.")),
						Setting.of(shortcut()));
			case RUN_JOB -> join(SweepQuery.PARAMETERS, Setting.of(this.path));
			case LIST_JOBS -> List.of(KnownJobsController.STATE, KnownJobsController.KIND, KnownJobsController.LIMIT,
					KnownJobsController.AFTER);
			case LIST_ITEMS -> List.of(KnownJobsController.STATUS);
			case PACE_JOB -> List.of(KnownJobsController.PACE);
			case ANALYSE -> AnalysisSettings.all();
			case TUNE -> TuningSettings.all();
			default -> List.of();
		};
	}

	/** The path without its variable, as the table of settings has it. */
	String shortcut() {
		int variable = this.path.indexOf("/{");
		return (variable < 0) ? this.path : this.path.substring(0, variable);
	}

	private static List<Setting<?>> join(List<Setting<?>> first, List<Setting<?>> second) {
		return Stream.concat(first.stream(), second.stream()).toList();
	}

	private static Setting<Long> count(long most, @Nullable String byDefault, String meaning) {
		return Setting.of("count", "",
				Allowed.of("a whole number from 0 to " + most, Allowed::number,
						Map.of("type", "integer", "format", "int64", "minimum", 0, "maximum", most)),
				byDefault, meaning);
	}

	/** The bodies of requests. */
	public enum Body {

		/** None is allowed. */
		NONE,

		/** Records in one of the formats; without any, others are meant. */
		UPLOAD,

		/** The text of a script. */
		SCRIPT

	}

	/**
	 * An answer that is no problem.
	 *
	 * @param mediaType the media type of its body; {@code null} for none
	 * @param type the class that is written as its JSON; {@code null} for other bodies
	 * @param meaning a sentence in Markdown
	 */
	public record Answer(HttpStatus status, @Nullable String mediaType, @Nullable Class<?> type, String meaning) {

		static final Answer REPORT = json(JobReport.class, "The job completed: the outcome of each of its records.");

		/** The job is taken. */
		public static final Answer ACCEPTED = new Answer(HttpStatus.ACCEPTED, MediaType.APPLICATION_JSON_VALUE,
				JobViews.StatusView.class, "The job is taken, or the request for it: `Location` is where to look.");

		static final Answer UNDER_WAY = empty(HttpStatus.ACCEPTED,
				"The same as soon as Redis can: send it again to know.");

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
	 * @param document the path of the OpenAPI document
	 */
	public record CallList(List<Row> calls, String document) {

		/** One call. */
		public record Row(String method, String path, String meaning) {

		}

	}

	/** Calls that have their problems in common, each with those of another group. */
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

		LIST(EVERY, Problem.INVALID_SETTING),

		KNOWN(EVERY, Problem.NOT_FOUND, Problem.CONTROL_UNREACHABLE),

		ITEMS(KNOWN, Problem.INVALID_SETTING, Problem.NOT_ENDED, Problem.NO_ITEMS, Problem.HELD_ELSEWHERE,
				Problem.GONE),

		CHANGE(KNOWN, Problem.ENDED, Problem.NOT_INTERRUPTED),

		PACE(CHANGE, Problem.INVALID_SETTING, Problem.FORBIDDEN),

		RESUME(CHANGE, Problem.NOT_REPEATABLE, Problem.HELD_ELSEWHERE, Problem.GONE, Problem.REDIS_UNREACHABLE,
				Problem.NO_ROOM, Problem.SHUTTING_DOWN),

		RECEIPT(KNOWN, Problem.RECEIPT_PENDING, Problem.GONE, Problem.REDIS_REFUSES, Problem.REDIS_UNREACHABLE),

		SCRIPT(EVERY, Problem.FORBIDDEN, Problem.INVALID_SCRIPT, Problem.UNSUPPORTED_CONTENT_ENCODING, Problem.STALLED,
				Problem.TOO_LARGE, Problem.REDIS_REFUSES, Problem.REDIS_UNREACHABLE);

		private final Set<Problem> problems;

		Group(@Nullable Group other, Problem... own) {
			Set<Problem> problems = EnumSet.noneOf(Problem.class);
			problems.addAll((other != null) ? other.problems : Set.of());
			problems.addAll(List.of(own));
			this.problems = Collections.unmodifiableSet(problems);
		}

	}

}
