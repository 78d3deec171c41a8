package io.pipeset.web;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.input.BodyDigest;
import io.pipeset.keep.IdempotencyKeys.Claim;
import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobState;
import io.pipeset.request.Client;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.web.ErrorResponseException;

/** The header {@code Idempotency-Key}: the service runs only one request with a key. */
final class IdempotencyKey {

	static final String HEADER = "Idempotency-Key";

	/** The header of a stored response to an earlier request. */
	static final String REPLAYED = "Idempotency-Replayed";

	/** The end of a job that lost its key to another request before it wrote anything. */
	static final Ending KEY_LOST = new Ending(Cause.CANCELLED, "Nothing was run: another request has this " + HEADER
			+ " now, because the process of this request had no valid lease in the control Redis. Send the request again"
			+ " to get the other request's answer");

	private static final Pattern VALUE = Pattern.compile("[!-~]{1,255}");

	private IdempotencyKey() {
	}

	/**
	 * Reads the key of a request.
	 * @return {@code null} if the request has none
	 * @throws ErrorResponseException if the header is not valid
	 */
	static @Nullable String of(HttpServletRequest request) {
		List<String> keys = Collections.list(request.getHeaders(HEADER));
		if (keys.isEmpty()) {
			return null;
		}
		if (keys.size() > 1 || !VALUE.matcher(keys.get(0)).matches()) {
			throw Problems.exception(Problem.INVALID_HEADER, "The header '" + HEADER
					+ "' must be one text of 1 to 255 visible ASCII characters, without blanks: send a UUID");
		}
		return keys.get(0);
	}

	/**
	 * Makes a key unique to its client. The blank keeps the parts apart, because no key
	 * has one.
	 */
	static String ofClient(Client client, String key) {
		return (client.name().equals(Client.NONE)) ? key : client.name() + ' ' + key;
	}

	/** Creates the digest of a request from all parts that count, except its body. */
	static BodyDigest digest(HttpServletRequest request) {
		String query = (request.getQueryString() != null) ? request.getQueryString() : "";
		// Parameters of one name keep their order, which matters for args.
		String settings = Stream.of(query.split("&", -1))
			.sorted(Comparator.comparing((parameter) -> parameter.split("=", 2)[0]))
			.collect(Collectors.joining("&"));
		String type = String.valueOf(request.getContentType()).replace(" ", "").toLowerCase(Locale.ROOT);
		return new BodyDigest(String.join("\n", request.getMethod(), request.getRequestURI(), settings, type, ""));
	}

	/**
	 * The fingerprint of a request, to be stored with its response: the digest, the bytes
	 * of the body that were read, and whether the body was read to its end.
	 */
	static String fingerprint(BodyDigest digest) {
		return digest.value() + ' ' + digest.bytes() + ' ' + digest.isEnded();
	}

	/** How many bytes of the body were read for a fingerprint. */
	static long bytes(String fingerprint) {
		return Long.parseLong(fingerprint.split(" ", -1)[1]);
	}

	/** Whether the body was read to its end for a fingerprint. */
	static boolean isWhole(String fingerprint) {
		return Boolean.parseBoolean(fingerprint.split(" ", -1)[2]);
	}

	/**
	 * Whether a request is the same as the request of a fingerprint. Of the bodies, only
	 * the bytes are compared that the earlier request read.
	 * @param digest the digest of the later request, with the same number of bytes
	 */
	static boolean isSame(String fingerprint, BodyDigest digest) {
		return fingerprint.startsWith(digest.value() + ' ') && bytes(fingerprint) == digest.bytes()
				&& (!isWhole(fingerprint) || digest.isEnded());
	}

	/** The end of a request whose key cannot be stored in the control Redis. */
	static Ending unreachable(ControlRedisException failure) {
		return new Ending(Cause.CONTROL_UNREACHABLE,
				"Nothing was run: the " + HEADER + " must be stored in the control Redis first. " + failure.getMessage()
						+ ". Send the request again later, with the same key");
	}

	/** The problem of a request whose key could not be claimed or kept. */
	static ErrorResponseException refused(Ending ending) {
		return Problems.exception((ending.cause() == Cause.CONTROL_UNREACHABLE) ? Problem.CONTROL_UNREACHABLE
				: Problem.IDEMPOTENCY_KEY_IN_USE, ending.detail());
	}

	/** The problem of a repeat if the first request has no stored response. */
	static ErrorResponseException inUse(Claim claim) {
		JobState state = claim.state();
		String first = "Nothing was run, because an earlier request with this " + HEADER;
		ErrorResponseException problem = (claim.runs())
				? Problems.exception(Problem.IDEMPOTENCY_KEY_IN_USE,
						first + " still runs as job " + claim.jobId()
								+ ". Send the request again when the job has ended, to get its report")
				: Problems.exception(Problem.INTERRUPTED, first + interrupted(claim.jobId(), state));
		if (claim.runs() || state != null) {
			problem.getHeaders().set(HttpHeaders.LOCATION, JobIds.location(claim.jobId()));
		}
		return problem;
	}

	private static String interrupted(String jobId, @Nullable JobState state) {
		if (state == null) {
			return " was accepted as job " + jobId
					+ ", whose record no longer exists. The process of the job has ended, and the job may have run in part."
					+ " Check the data, and send only the records that did not run, with a new key";
		}
		return " ran as job " + jobId + ((state == JobState.INTERRUPTED)
				? ", which was interrupted and may have run in part. If it was an upload with Prefer: respond-async,"
						+ " resume the job with POST /v1/jobs/" + jobId
						+ "/resume, or list the records that did not run with GET /v1/jobs/" + jobId
						+ "/items. Otherwise check the data, and send only the records that did not run, with a new key"
				: ", whose process ended before it stored the answer. The job is " + state.label()
						+ " now: read its report");
	}

	/** Whether the records that did not run can be listed, for a fingerprint. */
	static boolean isListed(String fingerprint) {
		return fingerprint.endsWith(" true");
	}

	/**
	 * Adds advice for the caller to the end of a job that may have changed data. Repeats
	 * get the same response and run nothing.
	 * @param listed whether the records that did not run can be listed by a request
	 */
	static Ending withAdvice(Ending ending, Counts counts, String jobId, boolean listed) {
		if (ending.cause() == Cause.COMPLETED) {
			return ending;
		}
		return new Ending(ending.cause(), (sentence(ending.detail()) + counts.applied() + " records were applied, and "
				+ counts.unknown() + " may have been. A repeat with the same " + HEADER
				+ " runs nothing, and gets this answer again. To continue, send the records that did not run in a new"
				+ " request, with a new key: "
				+ ((listed) ? "GET /v1/jobs/" + jobId + "/items?status=rejected,unprocessed lists them"
						: "the report's items, and all records from its nextIndex on. If an upload has Prefer:"
								+ " respond-async, GET /v1/jobs/{id}/items lists all of them"))
			.strip());
	}

	/** A text with a full stop and a blank after it; nothing for an empty text. */
	private static String sentence(String text) {
		return (text.isEmpty()) ? "" : (text.endsWith(".")) ? text + " " : text + ". ";
	}

}
