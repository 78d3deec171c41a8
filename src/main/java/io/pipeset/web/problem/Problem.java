package io.pipeset.web.problem;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;

/**
 * The problems that answers report, one for each pair of type and status. Types and
 * statuses are part of the HTTP contract. The documentation and the OpenAPI document list
 * them.
 */
public enum Problem {

	BAD_REQUEST(HttpStatus.BAD_REQUEST, "the path, the query string or a header is not well formed"),

	INVALID_SETTING(HttpStatus.BAD_REQUEST, "the value of a setting is not allowed, or does not fit another setting"),

	UNKNOWN_SETTING(HttpStatus.BAD_REQUEST, "there is no setting of this name"),

	NOT_AVAILABLE(HttpStatus.BAD_REQUEST, "a setting or header has no meaning for this call"),

	INVALID_COUNT(HttpStatus.BAD_REQUEST, "`count` is not a whole number, or is too large"),

	INVALID_KEY(HttpStatus.BAD_REQUEST, "the key cannot stand in a path"),

	INVALID_SCRIPT(HttpStatus.BAD_REQUEST, "Redis refuses the script, or there is none"),

	INVALID_HEADER(HttpStatus.BAD_REQUEST, "the header `Idempotency-Key` has a value that is not allowed"),

	UNEXPECTED_BODY(HttpStatus.BAD_REQUEST, "the request has a body, but the call takes none"),

	MALFORMED_BODY(HttpStatus.BAD_REQUEST,
			"framing, gzip, zstd, CSV's header or the chunks of the transfer are broken"),

	UNAUTHORIZED(HttpStatus.UNAUTHORIZED, "callers need [keys](security.md), but the request has no known key"),

	FORBIDDEN(HttpStatus.FORBIDDEN, "the [client](security.md#policies) may not do that, or no caller may"),

	FOREIGN_REQUEST(HttpStatus.FORBIDDEN, "[`Host`, `Origin` or `Sec-Fetch-Site`](calls.md#who-may-call) is foreign"),

	DISABLED(HttpStatus.FORBIDDEN, "the call is switched off"),

	NOT_FOUND(HttpStatus.NOT_FOUND, "there is no such call, no such query, or no such job of this client"),

	METHOD_NOT_ALLOWED(HttpStatus.METHOD_NOT_ALLOWED, "the path has other methods, which the answer names"),

	NOT_ACCEPTABLE(HttpStatus.NOT_ACCEPTABLE, "Actuator cannot answer with the requested media type"),

	STALLED(HttpStatus.REQUEST_TIMEOUT, "the rest of the body did not arrive in time"),

	CANCELLED(HttpStatus.CONFLICT,
			"another request [cancelled](jobs.md#cancelling-a-job) the job, or its [caller went away](limits.md#callers-that-go-away)"),

	NOT_ENDED(HttpStatus.CONFLICT, "the job has not ended, so it has no items yet"),

	ENDED(HttpStatus.CONFLICT, "the job does not run, so it cannot be changed"),

	NO_ITEMS(HttpStatus.CONFLICT, "the job has kept no records, so there are none to list"),

	NOT_INTERRUPTED(HttpStatus.CONFLICT,
			"only a job that is [interrupted](async.md#jobs-whose-process-ended) can be resumed"),

	NOT_REPEATABLE(HttpStatus.CONFLICT, "the job cannot be resumed, because some of its records must not run twice"),

	HELD_ELSEWHERE(HttpStatus.CONFLICT, "another instance has the job's records: `heldBy` names it"),

	RECEIPT_PENDING(HttpStatus.CONFLICT, "the [receipt](reliable-pop.md) is not handed over yet"),

	IDEMPOTENCY_KEY_IN_USE(HttpStatus.CONFLICT, "the request with this [`Idempotency-Key`](idempotency.md) still runs"),

	INTERRUPTED(HttpStatus.CONFLICT,
			"the request with this `Idempotency-Key` may have run in part, and never runs again"),

	GONE(HttpStatus.GONE, "the job's records, or its receipt, do not exist any more"),

	TOO_LARGE(HttpStatus.CONTENT_TOO_LARGE, "limit", "the body is larger than allowed"),

	UNSUPPORTED_MEDIA_TYPE(HttpStatus.UNSUPPORTED_MEDIA_TYPE,
			"the `Content-Type` is not one of the [formats](formats.md#records)"),

	UNSUPPORTED_CONTENT_ENCODING(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "the `Content-Encoding` is not gzip or zstd"),

	STOPPED(HttpStatus.UNPROCESSABLE_CONTENT,
			"more records than `maxErrors` were rejected; a [pop limit](calls.md#pops) was reached; a receipt's job took longer than `receiptTtl`"),

	COUNT_MISMATCH(HttpStatus.UNPROCESSABLE_CONTENT, "the body has more or fewer records than the path says"),

	IDEMPOTENCY_KEY_REUSED(HttpStatus.UNPROCESSABLE_CONTENT, "the `Idempotency-Key` was used for another request"),

	TOO_MANY(HttpStatus.TOO_MANY_REQUESTS, "limit", "the limit of requests, jobs or streams is reached"),

	REQUEST_HEADER_FIELDS_TOO_LARGE(HttpStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
			"the first line and the headers are larger than allowed"),

	INTERNAL_SERVER_ERROR(HttpStatus.INTERNAL_SERVER_ERROR,
			"a defect of the service, no thread for the job, or a [spooled body](async.md#jobs-that-outlive-their-request) that cannot be read"),

	SOURCE_FAILED(HttpStatus.BAD_GATEWAY,
			"the [URL or database](sources.md) that the records come from failed, or has changed"),

	REDIS_REFUSES_THE_REST(HttpStatus.BAD_GATEWAY, "redis-refuses",
			"Redis refuses a whole batch for one reason (OOM, READONLY, MISCONF…), and something was applied before"),

	REDIS_LOST(HttpStatus.BAD_GATEWAY, "Redis was lost after something was written, or `unknown` > 0 at the end"),

	REDIS_REFUSES(HttpStatus.SERVICE_UNAVAILABLE,
			"Redis refuses a whole batch, and nothing was applied; or it refuses the login: the password is missing or wrong, or the user is disabled"),

	REDIS_UNREACHABLE(HttpStatus.SERVICE_UNAVAILABLE, "nothing could be written"),

	CONTROL_UNREACHABLE(HttpStatus.SERVICE_UNAVAILABLE, "the control Redis does not answer"),

	SHUTTING_DOWN(HttpStatus.SERVICE_UNAVAILABLE, "the service [shuts down](operations.md#shutdown)"),

	NO_ROOM(HttpStatus.SERVICE_UNAVAILABLE, "limit", "the limits do not allow the service to resume the job now"),

	INSUFFICIENT_STORAGE(HttpStatus.INSUFFICIENT_STORAGE, "the spool has no room for the body");

	private static final int RETRY_AFTER_REFUSAL_SECONDS = 5;

	private final HttpStatus status;

	private final String type;

	private final String meaning;

	Problem(HttpStatus status, String meaning) {
		this.status = status;
		this.type = Problems.type(name());
		this.meaning = meaning;
	}

	Problem(HttpStatus status, String type, String meaning) {
		this.status = status;
		this.type = type;
		this.meaning = meaning;
	}

	/** The status of an answer with this problem. */
	public HttpStatus status() {
		return this.status;
	}

	/** The last part of the type's URI. */
	public String type() {
		return this.type;
	}

	/** The type as a URI, as it is in answers. */
	public String uri() {
		return Problems.uri(this.type);
	}

	/** The reason in a few words, as Markdown with links into the documentation. */
	public String meaning() {
		return this.meaning;
	}

	/**
	 * Finds a problem.
	 * @param type the last part of the type's URI
	 * @return the problem, or {@code null} if there is none
	 */
	public static @Nullable Problem find(int status, String type) {
		for (Problem row : values()) {
			if (row.status.value() == status && row.type.equals(type)) {
				return row;
			}
		}
		return null;
	}

	/**
	 * The seconds after which the same request may succeed, for the header
	 * {@code Retry-After}.
	 * @return 0 if sending it again does not help
	 */
	public int retryAfterSeconds() {
		return switch (this.status) {
			case TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE -> RETRY_AFTER_REFUSAL_SECONDS;
			default -> (this == NOT_ENDED || this == IDEMPOTENCY_KEY_IN_USE) ? 1 : 0;
		};
	}

}
