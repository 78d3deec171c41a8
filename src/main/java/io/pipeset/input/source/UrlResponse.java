package io.pipeset.input.source;

import java.net.http.HttpHeaders;

import io.pipeset.input.UrlVersion;
import org.jspecify.annotations.Nullable;

/**
 * The head of a response with a resource or its rest, and the rules by which it continues
 * the bytes that came before
 * (<a href="https://www.rfc-editor.org/rfc/rfc9110#section-14">RFC 9110</a>).
 *
 * @param status 200 for the whole, 206 for the rest
 * @param from the first byte that was asked for
 */
record UrlResponse(int status, HttpHeaders headers, long from) {

	/** The status of a response with the rest. */
	static final int PART = 206;

	static final String CHANGED = "the resource has changed since its first byte was read";

	private boolean isPart() {
		return this.status == PART;
	}

	/**
	 * The version of the resource, whose length is that of the whole.
	 * @param url the URL that was asked for
	 */
	UrlVersion version(String url) {
		long length = (isPart()) ? total() : this.headers.firstValueAsLong("Content-Length").orElse(-1);
		String validator = this.headers.firstValue("ETag")
			.filter((tag) -> tag.startsWith("\""))
			.or(() -> this.headers.firstValue("Last-Modified"))
			.orElse(null);
		return new UrlVersion(url, length, validator);
	}

	/** The length of the whole, by a part; -1 if the part does not say it. */
	private long total() {
		String range = range();
		String total = range.substring(range.indexOf('/') + 1);
		return (total.matches("[0-9]{1,18}")) ? Long.parseLong(total) : -1;
	}

	private String range() {
		return this.headers.firstValue("Content-Range").orElse("");
	}

	/**
	 * Why the response has other bytes than those that were asked for.
	 * @return {@code null} if it has these
	 */
	@Nullable String refused() {
		if (!isPart()) {
			return null;
		}
		if (this.from == 0) {
			return "the server sent a part, though the whole was asked for";
		}
		if (!range().startsWith("bytes " + this.from + "-")) {
			return "the server sent another range than the one asked for";
		}
		return (total() < 0) ? "the server does not say how long the resource is" : null;
	}

	/**
	 * Why the response does not continue the first one.
	 * @param known the version of the first response
	 * @param found the version of this one
	 * @param first the head of the first response; {@code null} if an earlier process had
	 * it
	 * @return {@code null} if it does
	 */
	@Nullable String differs(UrlVersion known, UrlVersion found, @Nullable HttpHeaders first) {
		// A part that was asked for by If-Range need not name its version again.
		boolean same = known.validator() != null
				&& (known.validator().equals(found.validator()) || (isPart() && found.validator() == null));
		if (this.from > 0 && !isPart()) {
			return (same) ? "the server cannot go on at a byte (it has no ranges)" : CHANGED;
		}
		if (known.validator() == null) {
			return "the server names no version of the resource (a strong ETag, or Last-Modified), so that it may have"
					+ " changed";
		}
		if (!same || (known.length() >= 0 && found.length() >= 0 && known.length() != found.length())) {
			return CHANGED;
		}
		return (first != null && (differs(first, "ETag") || differs(first, "Content-Encoding"))) ? CHANGED : null;
	}

	/**
	 * A header that is left out has not changed, unless it says how bytes are encoded.
	 */
	private boolean differs(HttpHeaders first, String name) {
		String before = String.join(", ", first.allValues(name));
		String now = String.join(", ", this.headers.allValues(name));
		return !now.equals(before) && (name.equals("Content-Encoding") || (!now.isEmpty() && !before.isEmpty()));
	}

}
