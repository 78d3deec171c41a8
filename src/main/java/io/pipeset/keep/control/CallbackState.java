package io.pipeset.keep.control;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import org.jspecify.annotations.Nullable;

/**
 * How far the callback of an ended job has come.
 *
 * @param attempts how often the report was sent
 * @param lastError why the last attempt failed; {@code null} if none has
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CallbackState(State state, int attempts, @Nullable String lastError) {

	static final CallbackState NEW = new CallbackState(State.PENDING, 0, null);

	/** The states of a callback. */
	public enum State {

		/** The report will be sent, perhaps again. */
		PENDING,
		/** The receiver has answered 2xx. */
		DELIVERED,
		/** The report will not be sent any more. */
		FAILED;

		/** The name in JSON. */
		@JsonValue
		public String label() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

}
