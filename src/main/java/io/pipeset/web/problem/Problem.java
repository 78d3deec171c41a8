package io.pipeset.web.problem;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;

/**
 * The table of problems, a row for each type and status: both are part of the HTTP
 * contract, and stand in the documentation and in the OpenAPI document.
 */
public enum Problem {

	/** The request is not HTTP, or its path or query string is not what RFC 3986 says. */
	BAD_REQUEST(HttpStatus.BAD_REQUEST, "the path, the query string or a header is not well formed"),

	/** A setting has a value that is not allowed, or that does not fit another. */
	INVALID_SETTING(HttpStatus.BAD_REQUEST, "the value of a setting is not allowed, or does not fit another setting"),

	/** There is no such setting. */
	UNKNOWN_SETTING(HttpStatus.BAD_REQUEST, "there is no setting of this name"),

	/** There is such a setting or header, and not for this call. */
	NOT_AVAILABLE(HttpStatus.BAD_REQUEST, "a setting or header has no meaning for this call"),

	/** The number in the path or query string is not allowed. */
	INVALID_COUNT(HttpStatus.BAD_REQUEST, "`count` is no whole number, or too large"),

	/** No path can carry the key. */
	INVALID_KEY(HttpStatus.BAD_REQUEST, "the key cannot stand in a path"),

	/** Redis does not compile the script, or there is none. */
	INVALID_SCRIPT(HttpStatus.BAD_REQUEST, "Redis refuses the script, or there is none"),

	/** A header has a value that is not allowed. */
	INVALID_HEADER(HttpStatus.BAD_REQUEST, "the header `Idempotency-Key` is none"),

	/** The call reads no body. */
	UNEXPECTED_BODY(HttpStatus.BAD_REQUEST, "the call takes no body, and there is one"),

	/** No further record can be told from the bytes of the body. */
	MALFORMED_BODY(HttpStatus.BAD_REQUEST,
			"framing, gzip, zstd, CSV's header or the chunks of the transfer are broken"),

	/** The request has no key of a client. */
	UNAUTHORIZED(HttpStatus.UNAUTHORIZED, "callers need [keys](security.md), and the request has none that is known"),

	/** The client may not do that. */
	FORBIDDEN(HttpStatus.FORBIDDEN, "the [client](security.md#policies) may not do that, or nobody may"),

	/** A web page of another host may have sent the request. */
	FOREIGN_REQUEST(HttpStatus.FORBIDDEN, "[`Host`, `Origin` or `Sec-Fetch-Site`](#who-may-call) is foreign"),

	/** The operator has switched the call off. */
	DISABLED(HttpStatus.FORBIDDEN, "the call is switched off"),

	/** There is no such call, or no such job of the client. */
	NOT_FOUND(HttpStatus.NOT_FOUND, "there is no such call, or no such job of this client"),

	/** The path has no call with this method. */
	METHOD_NOT_ALLOWED(HttpStatus.METHOD_NOT_ALLOWED, "the path has other methods, which the answer names"),

	/** Actuator has no answer in a media type that the caller accepts. */
	NOT_ACCEPTABLE(HttpStatus.NOT_ACCEPTABLE, "Actuator has no such media type"),

	/** The body stopped coming. */
	STALLED(HttpStatus.REQUEST_TIMEOUT, "the body stopped coming"),

	/** Somebody has cancelled the job, or its caller went away. */
	CANCELLED(HttpStatus.CONFLICT,
			"another request [cancelled](jobs.md#cancelling-a-job) the job, or its [caller went away](#callers-that-go-away)"),

	/** The job has not ended. */
	NOT_ENDED(HttpStatus.CONFLICT, "the job has no items yet"),

	/** The job has ended. */
	ENDED(HttpStatus.CONFLICT, "the job does not run, and cannot be changed"),

	/** The job keeps no records. */
	NO_ITEMS(HttpStatus.CONFLICT, "the job keeps no records that could be listed"),

	/** The job cannot be resumed. */
	NOT_INTERRUPTED(HttpStatus.CONFLICT,
			"only a job that is [interrupted](jobs.md#jobs-whose-process-ended) can be resumed"),

	/** Some of the job's records must not run twice. */
	NOT_REPEATABLE(HttpStatus.CONFLICT, "the job cannot be resumed, as some of its records may not run twice"),

	/** Another instance has the job's records. */
	HELD_ELSEWHERE(HttpStatus.CONFLICT, "another instance has the job's records: `heldBy` names it"),

	/** The receipt is not its caller's yet. */
	RECEIPT_PENDING(HttpStatus.CONFLICT, "the [receipt](reliable-pop.md) is not handed over yet"),

	/** The request with this key still runs. */
	IDEMPOTENCY_KEY_IN_USE(HttpStatus.CONFLICT,
			"the request with this [`Idempotency-Key`](jobs.md#once-only) still runs"),

	/** The request with this key was interrupted. */
	INTERRUPTED(HttpStatus.CONFLICT,
			"the request with this `Idempotency-Key` may have run in part, and never runs again"),

	/** The records or the receipt are not there any more. */
	GONE(HttpStatus.GONE, "the job's records, or its receipt, are not there any more"),

	/** The body is larger than allowed. */
	TOO_LARGE(HttpStatus.CONTENT_TOO_LARGE, "limit", "the body is larger than allowed"),

	/** Nobody reads such a body. */
	UNSUPPORTED_MEDIA_TYPE(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "the `Content-Type` is none of the [formats](#records)"),

	/** Nobody inflates such a body. */
	UNSUPPORTED_CONTENT_ENCODING(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "the `Content-Encoding` is not gzip or zstd"),

	/** The job stopped itself. */
	STOPPED(HttpStatus.UNPROCESSABLE_CONTENT,
			"more records than `maxErrors` were rejected; a [pop limit](#pops) was met; a receipt's job took longer than `receiptTtl`"),

	/** The body has another number of records than the path says. */
	COUNT_MISMATCH(HttpStatus.UNPROCESSABLE_CONTENT, "the body has another number of records than the path"),

	/** The key stands for another request. */
	IDEMPOTENCY_KEY_REUSED(HttpStatus.UNPROCESSABLE_CONTENT, "the `Idempotency-Key` stands for another request"),

	/** There are as many requests or jobs as there may be. */
	TOO_MANY(HttpStatus.TOO_MANY_REQUESTS, "limit", "there are as many requests, jobs or streams as there may be"),

	/** The head of the request is larger than allowed. */
	REQUEST_HEADER_FIELDS_TOO_LARGE(HttpStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
			"the first line and the headers are larger than allowed"),

	/** The service has a defect, or no thread or memory. */
	INTERNAL_SERVER_ERROR(HttpStatus.INTERNAL_SERVER_ERROR,
			"a defect of the service, no thread to be had for the job, or a [spooled body](jobs.md#jobs-that-outlive-their-request) that cannot be read"),

	/** Redis refused a batch after others had run. */
	REDIS_REFUSES_THE_REST(HttpStatus.BAD_GATEWAY, "redis-refuses",
			"Redis refuses a whole batch for one reason (OOM, READONLY, MISCONF…), and something was applied before"),

	/** Redis was lost after something had been written. */
	REDIS_LOST(HttpStatus.BAD_GATEWAY, "Redis was lost after something was written, or `unknown` > 0 in the end"),

	/** Redis refuses everything. */
	REDIS_REFUSES(HttpStatus.SERVICE_UNAVAILABLE,
			"Redis refuses a whole batch, and nothing was applied; or it does not let the service in: the password is missing or wrong, or the user disabled"),

	/** Nothing could be written. */
	REDIS_UNREACHABLE(HttpStatus.SERVICE_UNAVAILABLE, "nothing could be written"),

	/** Nobody can say what other instances know. */
	CONTROL_UNREACHABLE(HttpStatus.SERVICE_UNAVAILABLE, "the control Redis does not answer"),

	/** The service takes no more jobs. */
	SHUTTING_DOWN(HttpStatus.SERVICE_UNAVAILABLE, "the service [shuts down](#shutdown)"),

	/** The job's records are no longer within the limits. */
	NO_ROOM(HttpStatus.SERVICE_UNAVAILABLE, "limit", "there is no room now for what the job needs to be resumed"),

	/** The spool is full. */
	INSUFFICIENT_STORAGE(HttpStatus.INSUFFICIENT_STORAGE, "the spool has no room for the body");

	/** The seconds after which a caller that was turned away may try again. */
	private static final int TURNED_AWAY_SECONDS = 5;

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

	/** The status of answers. */
	public HttpStatus status() {
		return this.status;
	}

	/** The last part of the type. */
	public String type() {
		return this.type;
	}

	/** The type. */
	public String uri() {
		return Problems.uri(this.type);
	}

	/** The event in a few words of Markdown. */
	public String meaning() {
		return this.meaning;
	}

	/**
	 * Finds a row.
	 * @param type the last part of the type
	 * @return the row, or {@code null}
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
	 * @return 0 where a repeat does not help by itself
	 */
	public int retryAfterSeconds() {
		return switch (this.status) {
			case TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE -> TURNED_AWAY_SECONDS;
			default -> (this == NOT_ENDED || this == IDEMPOTENCY_KEY_IN_USE) ? 1 : 0;
		};
	}

}
