package io.pipeset.web;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.job.Client;
import io.pipeset.job.input.BodyDigest;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/** The key under which a caller has a request run once. */
final class IdempotencyKey {

	static final String HEADER = "Idempotency-Key";

	/** The answer is that of an earlier request. */
	static final String REPLAYED = "Idempotency-Replayed";

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

}
