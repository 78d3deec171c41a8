package io.pipeset.web;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.job.Client;
import io.pipeset.job.EndedJob;
import io.pipeset.job.control.ControlRedisException;
import io.pipeset.job.control.IdempotencyKeys.Claim;
import io.pipeset.job.input.BodyDigest;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.web.ErrorResponseException;

/** The key under which a caller has a request run once. */
final class IdempotencyKey {

	static final String HEADER = "Idempotency-Key";

	/** The answer is that of an earlier request. */
	static final String REPLAYED = "Idempotency-Replayed";

	/** The end of a request that has lost its key before it wrote anything. */
	static final Ending TAKEN = new Ending(Cause.CANCELLED, "Nothing was run: another request has this " + HEADER
			+ " by now, as the control Redis did not hear of this one's process. Send the request again, to have the answer"
			+ " of that one");

	private static final Pattern FORM = Pattern.compile("[!-~]{1,255}");

	private IdempotencyKey() {
	}

	/** The key of a request; {@code null} if it has none. */
	static @Nullable String of(HttpServletRequest request) {
		List<String> keys = Collections.list(request.getHeaders(HEADER));
		if (keys.isEmpty()) {
			return null;
		}
		if (keys.size() > 1 || !FORM.matcher(keys.get(0)).matches()) {
			throw Problems.exception(Problem.INVALID_HEADER, "The header '" + HEADER
					+ "' must be one text of 1 to 255 visible ASCII characters, without blanks: a UUID does");
		}
		return keys.get(0);
	}

	/** The key of a client, which is nobody else's: no key has a blank. */
	static String of(Client client, String key) {
		return (client.name().equals(Client.NONE)) ? key : client.name() + ' ' + key;
	}

	/** Begins the digest of a request with all that it says before its body. */
	static BodyDigest digest(HttpServletRequest request) {
		String query = (request.getQueryString() != null) ? request.getQueryString() : "";
		// Parameters of one name stay in their order, which args have.
		String settings = Stream.of(query.split("&", -1))
			.sorted(Comparator.comparing((parameter) -> parameter.split("=", 2)[0]))
			.collect(Collectors.joining("&"));
		String type = String.valueOf(request.getContentType()).replace(" ", "").toLowerCase(Locale.ROOT);
		return new BodyDigest(String.join("\n", request.getMethod(), request.getRequestURI(), settings, type, ""));
	}

	/** The fingerprint of a request that was run. */
	static String fingerprint(BodyDigest digest) {
		return digest.value() + ' ' + digest.bytes() + ' ' + digest.isEnded();
	}

	/** How many bytes of a body a fingerprint stands for. */
	static long bytes(String fingerprint) {
		return Long.parseLong(fingerprint.split(" ", -1)[1]);
	}

	/** Whether a fingerprint stands for a whole body. */
	static boolean isWhole(String fingerprint) {
		return Boolean.parseBoolean(fingerprint.split(" ", -1)[2]);
	}

	/**
	 * Whether a request is the same as one that was run, as far as that one was read.
	 * @param digest the digest of as many bytes
	 */
	static boolean isSame(String fingerprint, BodyDigest digest) {
		return fingerprint.startsWith(digest.value() + ' ') && bytes(fingerprint) == digest.bytes()
				&& (!isWhole(fingerprint) || digest.isEnded());
	}

	/** The end of a request whose key the control Redis cannot be told. */
	static Ending unreachable(ControlRedisException failure) {
		return new Ending(Cause.CONTROL_UNREACHABLE, "Nothing was run: the control Redis has to know the " + HEADER
				+ " first. " + failure.getMessage() + ". Send the request again later, with the same key");
	}

	/** The answer to a request that did not become a job. */
	static ErrorResponseException refused(Ending ending) {
		return Problems.exception((ending.cause() == Cause.CONTROL_UNREACHABLE) ? Problem.CONTROL_UNREACHABLE
				: Problem.IDEMPOTENCY_KEY_IN_USE, ending.detail());
	}

	/** The answer to a repeat whose first request has no answer that is kept. */
	static ErrorResponseException inUse(Claim claim) {
		JobState state = claim.state();
		String job = "Nothing was run: the request with this " + HEADER;
		ErrorResponseException problem = (claim.runs())
				? Problems.exception(Problem.IDEMPOTENCY_KEY_IN_USE, job + runs(claim.jobId(), state))
				: Problems.exception(Problem.INTERRUPTED, job + interrupted(claim.jobId(), state));
		if (claim.runs() || state != null) {
			problem.getHeaders().set(HttpHeaders.LOCATION, JobIds.location(claim.jobId()));
		}
		return problem;
	}

	private static String runs(String jobId, @Nullable JobState state) {
		return (state == null || state.isActive())
				? " still runs as job " + jobId + ". Send it again when that has ended, to have its report"
				: " has run as job " + jobId + ", which is " + state.label()
						+ ", and its answer is not kept yet. Look at its report, or send the request again later";
	}

	private static String interrupted(String jobId, @Nullable JobState state) {
		if (state == null) {
			return " was to run as job " + jobId
					+ ", of which there is no record any more. Its process has ended, and the"
					+ " job may have run in part. Look at the data, and send only what did not run, with a new key";
		}
		return " was run as job " + jobId + ((state == JobState.INTERRUPTED)
				? ", which was interrupted, and may have run in part. An upload that was sent with Prefer: respond-async"
						+ " can go on by POST /v1/jobs/" + jobId + "/resume, and GET /v1/jobs/" + jobId
						+ "/items lists what did not run. Of any other look at the data, and send only what did not run,"
						+ " with a new key"
				: ", whose process ended before its answer was kept. The job is " + state.label()
						+ " by now: look at its report");
	}

	/**
	 * A job that did not complete, with what its caller may do. Its answer is that of
	 * repeats as well, which run nothing.
	 * @param listed whether the records that did not run can be listed
	 */
	static EndedJob<JobReport> explained(EndedJob<JobReport> job, boolean listed) {
		Ending ending = job.ending();
		if (ending.cause() == Cause.COMPLETED || !job.touched()) {
			return job;
		}
		Counts counts = job.report().counts();
		return job.with(new Ending(ending.cause(), (ending.detail() + " " + counts.applied()
				+ " records were applied, and " + counts.unknown() + " may have been. A repeat with the same " + HEADER
				+ " runs nothing, and has this answer again. To go on, send what did not run in a new request, with a new"
				+ " key: "
				+ ((listed) ? "GET /v1/jobs/" + job.id() + "/items?status=rejected,unprocessed lists it"
						: "the report's items, and all from its nextIndex on; with Prefer: respond-async the job can be"
								+ " looked at, and GET /v1/jobs/{id}/items lists all of them"))
			.strip()));
	}

}
