package io.pipeset.engine.pipeline.boot;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.core.env.Environment;

/**
 * Refuses those of Boot's Redis settings that the service would ignore, or that would
 * break its guarantees. The error names the setting, and comes before any connection is
 * opened.
 */
public final class RedisSettings implements BeanFactoryPostProcessor {

	static final String DATA = "spring.data.redis";

	private static final String ONE_REDIS = "Remove it, and set spring.data.redis.host and .port, or"
			+ " spring.data.redis.url, to name one Redis.";

	private static final String OWN_ROUTING = "The service itself follows redirections and queries the cluster's masters"
			+ " within the timeout of each job.";

	private static final String NEVER_CLOSED = "The pool keeps all open connections.";

	private static final List<Refusal> REFUSALS = List.of(
			new Refusal("cluster.max-redirects", OWN_ROUTING, "Remove it.", null),
			new Refusal("lettuce.cluster", OWN_ROUTING, "Remove it.", null),
			new Refusal("masterreplica", "A master with replicas is not supported: a batch runs on one connection.",
					ONE_REDIS, null),
			new Refusal("lettuce.read-from", "Nothing is read from replicas: a batch runs on one connection.",
					"Remove it.", null),
			new Refusal("client-type", "The service supports only Lettuce.", "Remove it, or set it to lettuce.",
					"lettuce"),
			new Refusal("lettuce.pool.enabled", "The pool is required, because every batch needs its own connection.",
					"Remove it, or set it to true.", "true"),
			new Refusal("lettuce.pool.max-active", "The service calculates the size of the pool.",
					"Remove it, and set pipeset.pipeline.max-connections.", null),
			new Refusal("lettuce.pool.max-wait",
					"The service waits for the pool no longer than for opening a connection.",
					"Remove it, and set pipeset.pipeline.connect-timeout.", null),
			new Refusal("lettuce.pool.max-idle", NEVER_CLOSED, "Remove it.", null),
			new Refusal("lettuce.pool.min-idle", NEVER_CLOSED, "Remove it.", null),
			new Refusal("lettuce.pool.time-between-eviction-runs", NEVER_CLOSED, "Remove it.", null));

	private static final String ONE_CLUSTER = "Remove it, or remove cluster.nodes.";

	/**
	 * Settings of a single Redis, which would be ignored if a cluster is configured too.
	 */
	private static final List<Refusal> REFUSED_WITH_CLUSTER = List.of(
			new Refusal("host", "The nodes of the cluster are named already.", ONE_CLUSTER, null),
			new Refusal("port", "The nodes of the cluster are named already.", ONE_CLUSTER, null),
			new Refusal("url", "The nodes of the cluster are named already.", ONE_CLUSTER, null),
			new Refusal("database", "A cluster has database 0 only.", "Remove it, or set it to 0.", "0"));

	private static final Pattern ADDRESS = Pattern.compile(".+:(\\d{1,5})");

	private static final Pattern URL_OR_OPTIONS = Pattern.compile("[/@=?]");

	private static final Pattern DATABASE = Pattern.compile("/?\\d{0,9}");

	/**
	 * Matches a password with a character that is not percent-encoded. The URL parser
	 * would read such a password as a port and a database, and quote a part of it in an
	 * exception.
	 */
	private static final Pattern UNENCODED = Pattern.compile("//[^/?#]*[/?#].*@");

	private final Environment environment;

	private final String prefix;

	/**
	 * Checks the settings of a Redis.
	 * @param prefix the prefix of their names, without the final dot
	 */
	public RedisSettings(Environment environment, String prefix) {
		this.environment = environment;
		this.prefix = prefix;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
		for (String addresses : List.of("host", "cluster.nodes", "sentinel.nodes", "masterreplica.nodes")) {
			refuseUrls(name(addresses));
		}
		refuseInvalid();
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			if (this.prefix.equals(DATA)) {
				REFUSALS.forEach((refusal) -> refusal.check(source, this.prefix));
			}
			if (isSet(name("cluster.nodes"))) {
				REFUSED_WITH_CLUSTER.forEach((refusal) -> refusal.check(source, this.prefix));
			}
		}
	}

	private String name(String setting) {
		return this.prefix + '.' + setting;
	}

	/**
	 * Refuses URLs, because addresses are logged and appear in responses. A URL may
	 * contain a password, and so may options after an address, which other drivers
	 * accept.
	 */
	private void refuseUrls(String name) {
		if (bindAll(name).stream().anyMatch(URL_OR_OPTIONS.asPredicate())) {
			throw new UnsupportedRedisException(
					name + " is refused. It contains a URL or options, which are not shown.",
					"Set it to addresses without a scheme or a password. Set the password in " + name("password")
							+ ", or " + "name a single Redis by its URL in " + name("url") + ".");
		}
	}

	/** Refuses values for which the driver would fail without naming the setting. */
	private void refuseInvalid() {
		require("host", String.class, (host) -> !host.isBlank(), "It must be a name or an address.");
		require("port", Integer.class, RedisSettings::isPort, "It must be from 1 to 65535.");
		require("database", Integer.class, (database) -> database >= 0, "It must be 0 or more.");
		require("connect-timeout", Duration.class, (timeout) -> timeout.toMillis() > 0, "It must be 1ms or more.");
		requireBoth("sentinel.master", "sentinel.nodes");
		requireBoth("sentinel.nodes", "sentinel.master");
		bind("url", String.class).ifBound(this::refuseInvalid);
		requireAddresses("cluster.nodes");
		requireAddresses("sentinel.nodes");
	}

	private void refuseInvalid(String url) {
		if (UNENCODED.matcher(url).find()) {
			throw new UnsupportedRedisException(name("url") + " is refused. It has an @ after its host.",
					"Percent-encode every character of its password that is not a letter or a digit.");
		}
		URI uri;
		try {
			uri = new URI(url);
		}
		catch (URISyntaxException ex) {
			// Boot refuses it, and names the setting.
			return;
		}
		String problem = null;
		if (uri.getScheme() == null) {
			problem = "It has no scheme.";
		}
		else if (uri.getHost() == null) {
			problem = "Its host is neither a name (letters, digits, dots and hyphens) nor an address, or its port"
					+ " is not a number.";
		}
		// The Sentinels know the master's address, so only the rest of the URL counts.
		else if (!isPort(uri.getPort()) && !(uri.getPort() < 0 && isSet(name("sentinel.nodes")))) {
			problem = (uri.getPort() < 0) ? "It has no port." : "Its port is " + uri.getPort() + '.';
		}
		else if (!DATABASE.matcher(uri.getPath()).matches()) {
			problem = "Its path is not the number of a database.";
		}
		if (problem != null) {
			throw new UnsupportedRedisException(name("url") + " is refused. " + problem,
					"Set it to redis://user:password@host:port/database, with a port from 1 to 65535.");
		}
	}

	private void requireAddresses(String setting) {
		List<String> addresses = bindAll(name(setting));
		String problem = (isSet(name(setting)) && addresses.isEmpty()) ? "It has no address." : null;
		for (int i = 0; i < addresses.size() && problem == null; i++) {
			Matcher parts = ADDRESS.matcher(addresses.get(i));
			if (!parts.matches() || !isPort(Integer.parseInt(parts.group(1)))) {
				// The address is not shown, because it may be the rest of a password that
				// contains a comma.
				problem = "Its address " + (i + 1) + " has no port from 1 to 65535.";
			}
		}
		if (problem != null) {
			throw new UnsupportedRedisException(name(setting) + " is refused. " + problem,
					"Set it to addresses such as host:6379, with commas between them.");
		}
	}

	private static boolean isPort(int port) {
		return port > 0 && port <= 65535;
	}

	private List<String> bindAll(String name) {
		return Binder.get(this.environment).bind(name, Bindable.listOf(String.class)).orElse(List.of());
	}

	private <T> BindResult<T> bind(String setting, Class<T> type) {
		return Binder.get(this.environment).bind(name(setting), type);
	}

	private <T> void require(String setting, Class<T> type, Predicate<T> fits, String reason) {
		bind(setting, type).ifBound((value) -> {
			if (!fits.test(value)) {
				throw new UnsupportedRedisException(name(setting) + '=' + value + " is refused. " + reason,
						"Correct it, or remove it.");
			}
		});
	}

	/**
	 * Refuses a setting without its counterpart. But a control Redis without Sentinels of
	 * its own may have another master, which the Sentinels of the data Redis know.
	 */
	private void requireBoth(String setting, String other) {
		boolean dataHasOther = setting.equals("sentinel.master") && isSet(DATA + '.' + other);
		if (isSet(name(setting)) && !isSet(name(other)) && !dataHasOther) {
			throw new UnsupportedRedisException(
					name(setting) + " is refused. It has no effect without " + name(other) + ".",
					"Set " + name(other) + " as well, or remove it.");
		}
	}

	private boolean isSet(String name) {
		return Binder.get(this.environment).bind(name, Bindable.listOf(String.class)).isBound();
	}

	/**
	 * A setting that is refused.
	 *
	 * @param setting its name after the prefix, or the common beginning of several names
	 * @param problem why it is refused
	 * @param remedy what to do instead
	 * @param allowed the only accepted value; {@code null} if there is none
	 */
	private record Refusal(String setting, String problem, String remedy, @Nullable String allowed) {

		void check(ConfigurationPropertySource source, String prefix) {
			ConfigurationPropertyName name = ConfigurationPropertyName.of(prefix + '.' + this.setting);
			ConfigurationProperty property = source.getConfigurationProperty(name);
			if (property != null && !property.getValue().toString().equalsIgnoreCase(this.allowed)) {
				// A URL may contain a password.
				String value = (this.setting.equals("url")) ? "" : "=" + property.getValue();
				throw new UnsupportedRedisException(name + value + " is refused. " + this.problem, this.remedy);
			}
			if (source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT) {
				throw new UnsupportedRedisException(name + ".* is refused. " + this.problem, this.remedy);
			}
		}

	}

}
