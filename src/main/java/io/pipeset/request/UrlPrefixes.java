package io.pipeset.request;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The URLs that begin with one of some prefixes. A URL is under a prefix if both have the
 * same scheme, host and port, and if the path of the prefix ends where a segment of the
 * URL's path ends.
 */
public final class UrlPrefixes {

	/** All URLs. */
	public static final UrlPrefixes ANY = new UrlPrefixes(null);

	/** No URL. */
	public static final UrlPrefixes NONE = new UrlPrefixes(List.of());

	/** The largest number of characters in a URL. */
	public static final int MAX_URL_LENGTH = 2_000;

	/** The same of a URL with a signature in its query. */
	public static final int MAX_SIGNED_URL_LENGTH = 6_000;

	/** The URLs that {@link #parse} accepts, for messages. */
	public static final String ALLOWED = allowed("2,000");

	/** The same with a signature. */
	static final String ALLOWED_SIGNED = allowed("6,000");

	private static final Pattern VISIBLE_ASCII = Pattern.compile("[!-~]+");

	/**
	 * A segment that a server may read as {@code .} or {@code ..}, also if it is encoded,
	 * or has path parameters.
	 */
	private static final Pattern DOT_SEGMENT = Pattern
		.compile("(?:^|/|%(?:25)*2f|%(?:25)*5c)(?:\\.|%(?:25)*2e){1,2}(?:$|[/;]|%(?:25)*(?:2f|5c|3b))");

	/** The prefixes; {@code null} for all URLs. */
	private final @Nullable List<URI> prefixes;

	private UrlPrefixes(@Nullable List<URI> prefixes) {
		this.prefixes = prefixes;
	}

	/**
	 * Creates the URLs under some prefixes.
	 * @param texts URLs without query
	 * @throws IllegalArgumentException if a text is no such URL; the message quotes none
	 */
	public static UrlPrefixes of(List<String> texts) {
		return new UrlPrefixes(texts.stream().map((text) -> {
			URI prefix = parse(text);
			if (prefix == null || prefix.getRawQuery() != null || hasDotSegment(prefix)) {
				throw new IllegalArgumentException(
						"must be " + ALLOWED + ", and also without a query and the segments '.' and '..'");
			}
			return prefix;
		}).toList());
	}

	/**
	 * Parses a URL that the service may send a request to.
	 * @return {@code null} if the text is not {@link #ALLOWED}
	 */
	public static @Nullable URI parse(String text) {
		return parse(text, MAX_URL_LENGTH);
	}

	/**
	 * Parses a URL that the service may send a request to.
	 * @param most the largest number of characters
	 * @return {@code null} if the text is longer, or otherwise not {@link #ALLOWED}
	 */
	public static @Nullable URI parse(String text, int most) {
		if (text.length() > most || !VISIBLE_ASCII.matcher(text).matches()) {
			return null;
		}
		try {
			URI url = new URI(text);
			return ((scheme(url).equals("http") || scheme(url).equals("https")) && url.getHost() != null
					&& url.getRawUserInfo() == null && url.getRawFragment() == null && url.getPort() <= 0xFFFF
					&& url.getPort() != 0) ? url : null;
		}
		catch (URISyntaxException ex) {
			return null;
		}
	}

	private static String allowed(String length) {
		return "an absolute http or https URL of at most " + length + " characters, without user info and fragment";
	}

	/** A URL without its query, which may hold a secret. */
	public static String withoutQuery(String url) {
		int query = url.indexOf('?');
		return (query < 0) ? url : url.substring(0, query);
	}

	public boolean isEmpty() {
		return this.prefixes != null && this.prefixes.isEmpty();
	}

	/**
	 * Whether a URL is under one of the prefixes.
	 * @param url a URL from {@link #parse}
	 * @return {@code false} also if the path has a segment {@code .} or {@code ..},
	 * because the server may leave the prefix there
	 */
	public boolean contain(URI url) {
		return this.prefixes == null
				|| (!hasDotSegment(url) && this.prefixes.stream().anyMatch((prefix) -> isUnder(prefix, url)));
	}

	private static boolean isUnder(URI prefix, URI url) {
		return scheme(prefix).equals(scheme(url)) && prefix.getHost().equalsIgnoreCase(url.getHost())
				&& port(prefix) == port(url) && isUnder(path(prefix), path(url));
	}

	private static boolean isUnder(String prefix, String path) {
		return path.startsWith(prefix)
				&& (prefix.endsWith("/") || path.length() == prefix.length() || path.charAt(prefix.length()) == '/');
	}

	private static boolean hasDotSegment(URI url) {
		return DOT_SEGMENT.matcher(path(url).toLowerCase(Locale.ROOT)).find();
	}

	private static String scheme(URI url) {
		return String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
	}

	private static int port(URI url) {
		return (url.getPort() >= 0) ? url.getPort() : (scheme(url).equals("https")) ? 443 : 80;
	}

	private static String path(URI url) {
		String path = url.getRawPath();
		return (path == null || path.isEmpty()) ? "/" : path;
	}

	/** These prefixes, or those that the other ones have if these are all URLs. */
	public List<String> orAll(UrlPrefixes all) {
		List<URI> prefixes = (this.prefixes != null) ? this.prefixes : all.prefixes;
		return (prefixes != null) ? prefixes.stream().map(URI::toString).toList() : List.of();
	}

	@Override
	public String toString() {
		return (this.prefixes == null) ? "any URL"
				: (isEmpty()) ? "none" : String.join(", ", this.prefixes.stream().map(String::valueOf).toList());
	}

}
