package io.pipeset.keep;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The changes that callers have requested while the job waited or ran, the end of its
 * process, and whether the process had begun to remove keys.
 *
 * @param cancelled when the job was cancelled, in milliseconds since 1970; {@code null}
 * if it was not
 * @param rateLimit the rate limit in records per second, 0 for none; {@code null} if it
 * was not changed
 * @param interrupted when the job's process ended, in milliseconds since 1970, 0 after
 * the job was resumed; {@code null} if it never ended
 * @param removing {@code true} if the job began to remove keys by its setting
 * {@code replace}; otherwise {@code null}
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RequestedChanges(@Nullable Long cancelled, @Nullable Long rateLimit, @Nullable Long interrupted,
		@Nullable Boolean removing) {

	static final RequestedChanges NONE = new RequestedChanges(null, null, null, null);

	RequestedChanges merge(RequestedChanges later) {
		return new RequestedChanges((this.cancelled != null) ? this.cancelled : later.cancelled,
				(later.rateLimit != null) ? later.rateLimit : this.rateLimit,
				(later.interrupted != null) ? later.interrupted : this.interrupted,
				(later.removing != null) ? later.removing : this.removing);
	}

}
