package io.pipeset.report;

import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import org.jspecify.annotations.Nullable;

/**
 * A record in the report.
 *
 * @param index its index in the job, from 0
 * @param line its line in the body, from 1; {@code null} if the format has no lines
 * @param id the caller's id for it; {@code null} if it has none
 * @param op its operation; {@code null} if it failed before its operation was known
 * @param key its first key
 * @param error the reason why it failed; {@code null} if it did not
 * @param reply the reply of Redis, if the caller requested it or if it has popped values
 * @param detail what the reply means; {@code null} if it is plain
 * @param raw the unparsed row or line, 1 KB at most, if it is not a valid record
 * @param found the beginning of what Redis has instead of the record, 256 bytes at most
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Item(long index, @Nullable Long line, @Nullable String id, @Nullable String op, @Nullable Object key,
		Outcome status, @Nullable Failure error, @Nullable Reply reply, @Nullable String detail,
		@Nullable List<Object> command, @Nullable Object raw, @Nullable Object found) {

	/** A record that is not compared with what Redis has. */
	public Item(long index, @Nullable Long line, @Nullable String id, @Nullable String op, @Nullable Object key,
			Outcome status, @Nullable Failure error, @Nullable Reply reply, @Nullable String detail,
			@Nullable List<Object> command, @Nullable Object raw) {
		this(index, line, id, op, key, status, error, reply, detail, command, raw, null);
	}

	/**
	 * Why a record failed.
	 *
	 * @param code the first word of Redis's error, or a code of the service
	 * @param message the whole error
	 * @param retryable whether the same record may succeed later
	 */
	public record Failure(String code, String message, boolean retryable) {

	}

	/**
	 * A reply of Redis. This type distinguishes a nil reply from a reply that is not
	 * listed.
	 *
	 * @param value a string, a number, a list of these, or {@code null} for nil; a value
	 * that is not UTF-8 is {@code {"base64": "…"}}
	 */
	public record Reply(@JsonValue @Nullable Object value) {

	}

}
