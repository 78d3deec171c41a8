package io.pipeset.request;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.Assert;

/**
 * Who may call the service if no clients are configured.
 *
 * @param scripts whether callers may load and run scripts, which can do anything to any
 * key that the service's Redis user may do
 * @param anonymous whether other machines may call the service without credentials
 * @param allowedHosts names and addresses, without a port, that requests may have as
 * their {@code Host} in addition to those of loopback; in lower case
 */
@ConfigurationProperties("pipeset.security")
public record SecurityProperties(@DefaultValue("false") boolean scripts, @DefaultValue("false") boolean anonymous,
		@DefaultValue Set<String> allowedHosts) {

	private static final Pattern HOST = Pattern.compile("\\[[0-9a-f:.]+]|[a-z0-9._-]*[a-z0-9_-]");

	public SecurityProperties {
		for (String host : allowedHosts) {
			Assert.isTrue(HOST.matcher(host.toLowerCase(Locale.ROOT)).matches(),
					() -> "pipeset.security.allowed-hosts must be names or addresses without a scheme and a port,"
							+ " such as pipeset.internal or [fd00::1], not '" + host + "'");
		}
		allowedHosts = allowedHosts.stream()
			.map((host) -> host.toLowerCase(Locale.ROOT))
			.collect(Collectors.toUnmodifiableSet());
	}

}
