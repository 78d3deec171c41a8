package io.pipeset.input.source;

import java.net.ConnectException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;

import javax.net.ssl.SSLException;

import io.pipeset.report.DurationText;
import org.jspecify.annotations.Nullable;

/** Describes failures of requests in fixed words, because their own may quote the URL. */
public final class HttpFailures {

	private HttpFailures() {
	}

	/**
	 * Describes a failure.
	 * @param server the other side, such as "the server"
	 * @param timeout how long it may take to answer
	 * @return a sentence without a full stop
	 */
	public static String describe(@Nullable Throwable failure, String server, Duration timeout) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof StatusException) {
				return String.valueOf(cause.getMessage());
			}
			if (cause instanceof HttpTimeoutException) {
				return server + " did not answer within " + DurationText.of(timeout);
			}
			if (cause instanceof ConnectException) {
				return server + " cannot be reached";
			}
			if (cause instanceof SSLException) {
				return server + " has a TLS certificate or protocol that is not accepted";
			}
		}
		return "the connection to " + server + " was lost";
	}

	/** A response with a status that may be another one later. */
	public static final class StatusException extends Exception {

		/**
		 * Creates the failure.
		 * @param message the status, without the URL
		 */
		public StatusException(String message) {
			super(message);
		}

	}

}
