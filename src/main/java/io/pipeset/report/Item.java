package io.pipeset.report;

import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import org.jspecify.annotations.Nullable;

/**
 * One record as the report lists it.
 *
 * @param index its place in the job, from 0
 * @param line its line in the body, from 1; {@code null} where the format has no lines
 * @param id the caller's own name of it
 * @param op its operation; {@code null} where the record did not get as far as naming one
 * @param key its first key
 * @param error the reason, for a record that did not run as asked
 * @param reply the answer of Redis, if the caller asked for it or it exists nowhere else
 * @param raw the row or line as it came, 1 KB at most, where it could not become a record
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Item(long index, @Nullable Long line, @Nullable String id, @Nullable String op, @Nullable Object key,
		Outcome status, @Nullable Failure error, @Nullable Reply reply, @Nullable List<Object> command,
		@Nullable Object raw) {

	/**
	 * Why a record did not run as asked.
	 *
	 * @param code the first word of Redis's error, or one of the service's own
	 * @param message the whole error
	 * @param retryable whether the same record may well succeed later
	 */
	public record Failure(String code, String message, boolean retryable) {

	}

	/**
	 * A reply of Redis, which may be nil. The type tells "answered nil" from "not
	 * listed".
	 *
	 * @param value a string, a number, a list of such, or {@code null}; a value that is
	 * not UTF-8 stands as {@code {"base64": "…"}}
	 */
	public record Reply(@JsonValue @Nullable Object value) {

	}

}
