package io.pipeset.web.access;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The host names that callers may use for the service, and the hosts whose web pages may
 * call it. Names are compared as text and never resolved, because the owner of a domain
 * can let a name resolve to any address.
 */
final class AllowedHosts {

	private static final String AUTHORITY = "(\\[[0-9a-f:.]+]|[a-z0-9._-]+?)\\.?(?::[0-9]*)?";

	private static final Pattern HOST = Pattern.compile(AUTHORITY);

	private static final Pattern ORIGIN = Pattern.compile("https?://" + AUTHORITY);

	private static final Set<String> LOOPBACK = Set.of("localhost", "[::1]", "[0:0:0:0:0:0:0:1]");

	private static final Pattern LOOPBACK_ADDRESS = Pattern.compile("127(\\.[0-9]{1,3}){3}");

	private static final Pattern ADDRESS = Pattern.compile("\\[.*]|[0-9]{1,3}(\\.[0-9]{1,3}){3}");

	private final boolean exposed;

	private final Set<String> listed;

	/** The last allowed header, kept because most callers send the same one. */
	private volatile @Nullable String lastAllowed;

	/**
	 * Creates the hosts of a service.
	 * @param exposed whether other machines may call the service
	 * @param listed the names of the service in addition to those of loopback, in lower
	 * case. If it is exposed and there are none, any name is allowed
	 */
	AllowedHosts(boolean exposed, Set<String> listed) {
		this.exposed = exposed;
		this.listed = listed;
	}

	/**
	 * Whether a request may have this Host.
	 * @param header the request's Host, or {@code null} if it has none
	 * @return {@code false} for a name whose owner may have let it resolve to this
	 * machine
	 */
	boolean isAllowedHost(@Nullable String header) {
		if ((this.exposed && this.listed.isEmpty()) || (header != null && header.equals(this.lastAllowed))) {
			return true;
		}
		String host = host(HOST, header);
		// An address is not resolved, so the owner of a domain has no influence on it.
		// Health probes of a pod use one.
		if (host == null || !(isKnown(host) || (this.exposed && ADDRESS.matcher(host).matches()))) {
			return false;
		}
		this.lastAllowed = header;
		return true;
	}

	/**
	 * Whether web pages of an origin may call the service.
	 * @param origin the request's Origin
	 * @param header the request's Host, which is allowed, or {@code null} if it has none
	 */
	boolean isAllowedOrigin(String origin, @Nullable String header) {
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
