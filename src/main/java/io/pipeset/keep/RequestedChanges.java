package io.pipeset.keep;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The changes that callers have requested while the job waited or ran, and the end of its
 * process.
 *
 * @param cancelled when the job was cancelled, in milliseconds since 1970; {@code null}
 * if it was not
 * @param rateLimit the rate limit in records per second, 0 for none; {@code null} if it
 * was not changed
 * @param interrupted when the job's process ended, in milliseconds since 1970, 0 after
 * the job was resumed; {@code null} if it never ended
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RequestedChanges(@Nullable Long cancelled, @Nullable Long rateLimit, @Nullable Long interrupted) {

	static final RequestedChanges NONE = new RequestedChanges(null, null, null);

	RequestedChanges merge(RequestedChanges later) {
		return new RequestedChanges((this.cancelled != null) ? this.cancelled : later.cancelled,
				(later.rateLimit != null) ? later.rateLimit : this.rateLimit,
				(later.interrupted != null) ? later.interrupted : this.interrupted);
	}

}
