package io.pipeset.web.access;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The hosts by which the service may be called, and those whose web pages may call it.
 * Names are compared as they are written, and never looked up, since anybody can let a
 * name stand for any address.
 */
final class AllowedHosts {

	private static final String AUTHORITY = "(\\[[0-9a-f:.]+]|[a-z0-9._-]+?)\\.?(?::[0-9]*)?";

	private static final Pattern HOST = Pattern.compile(AUTHORITY);

	private static final Pattern ORIGIN = Pattern.compile("https?://" + AUTHORITY);

	private static final Set<String> LOOPBACK = Set.of("localhost", "[::1]", "[0:0:0:0:0:0:0:1]");

	private static final Pattern LOOPBACK_ADDRESS = Pattern.compile("127(\\.[0-9]{1,3}){3}");

	private static final Pattern ADDRESS = Pattern.compile("\\[.*]|[0-9]{1,3}(\\.[0-9]{1,3}){3}");

	/** Whether the service may have any name. */
	private final boolean exposed;

	private final Set<String> listed;

	/** The header that was allowed last. Most callers send the same one. */
	private volatile @Nullable String served;

	/**
	 * Knows the hosts of a service.
	 * @param exposed whether it is reached from other machines
	 * @param listed its names beside those of loopback, in lower case
	 */
	AllowedHosts(boolean exposed, Set<String> listed) {
		this.exposed = exposed;
		this.listed = listed;
	}

	/**
	 * Whether the service may be called by this host.
	 * @param header its Host, or {@code null} where it has none
	 * @return {@code false} for a name that somebody else may have pointed here
	 */
	boolean serves(@Nullable String header) {
		if ((this.exposed && this.listed.isEmpty()) || (header != null && header.equals(this.served))) {
			return true;
		}
		String host = host(HOST, header);
		// A caller that names an address means it, such as the health probe of a pod.
		if (host == null || !(isKnown(host) || (this.exposed && ADDRESS.matcher(host).matches()))) {
			return false;
		}
		this.served = header;
		return true;
	}

	/**
	 * Whether web pages of an origin may call.
	 * @param origin the request's Origin
	 * @param header its Host, which is allowed, or {@code null} where it has none
	 */
	boolean trusts(String origin, @Nullable String header) {
		String host = host(ORIGIN, origin);
		return host != null && (isKnown(host) || host.equals(host(HOST, header)));
	}

	private boolean isKnown(String host) {
		return LOOPBACK.contains(host) || LOOPBACK_ADDRESS.matcher(host).matches() || this.listed.contains(host);
	}

	private static @Nullable String host(Pattern pattern, @Nullable String text) {
		Matcher matcher = pattern.matcher((text != null) ? text.toLowerCase(Locale.ROOT) : "");
		return (matcher.matches()) ? matcher.group(1) : null;
	}

}
