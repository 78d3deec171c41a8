package io.pipeset.input;

import io.pipeset.request.UrlPrefixes;
import org.jspecify.annotations.Nullable;

/**
 * A version of the resource of a URL, so that a later read gets the same bytes.
 *
 * @param url the URL, whose query may have a secret
 * @param length the length in bytes; -1 if unknown
 * @param validator the strong ETag or else the Last-Modified; {@code null} if the server
 * has named neither, so that no later read can be sure
 */
public record UrlVersion(String url, long length, @Nullable String validator) {

	/** The URL as reports and messages show it: without its query. */
	public String shown() {
		return UrlPrefixes.withoutQuery(this.url);
	}

	@Override
	public String toString() {
		return shown();
	}

}
