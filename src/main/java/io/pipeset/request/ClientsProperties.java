package io.pipeset.request;

import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The clients of the service, and what each of them may do. The values are not checked
 * here but where the {@link Client clients} are created, because a binding error would
 * quote the value, which may be a secret.
 *
 * @param clients the clients by their names. Without any, callers need no credentials and
 * reach the service only from its own machine
 */
@ConfigurationProperties("pipeset")
public record ClientsProperties(@DefaultValue Map<String, Policy> clients) {

	/** Whether no clients are configured, so that callers need no credentials. */
	public boolean isEmpty() {
		return this.clients.isEmpty();
	}

	/**
	 * A client's credentials, and what it may do with any of them.
	 *
	 * @param keySha256 the SHA-256 of each of its keys, 64 hexadecimal digits; two while
	 * a key is replaced
	 * @param certificate the subject of its TLS certificate, a distinguished name
	 * according to RFC 2253; {@code null} if it has none
	 * @param operations the names of the operations that its records may have, such as
	 * SET or BF.ADD; all if left out
	 * @param keyPrefixes the prefixes of the Redis keys that its records may have; any
	 * key if left out
	 * @param scripts whether it may load and run scripts, which may write any key despite
	 * {@code key-prefixes}
	 * @param sweeps whether it may run jobs on those of its keys that SCAN finds
	 * @param analyses whether it may analyse all keys in Redis, including those of other
	 * clients
	 * @param tunings whether it may run tunings, which load Redis as fast as possible
	 * @param callbacks prefixes of the URLs that may get the reports of its jobs, all of
	 * them also under {@code pipeset.callbacks.allowed}; none if left out
	 * @param sources prefixes of the URLs from which its records may be fetched, all of
	 * them also under {@code pipeset.sources.urls}, and names of
	 * {@code pipeset.sources.queries}; none if left out
	 * @param limits its limits, in addition to those of the service
	 */
	public record Policy(@DefaultValue List<String> keySha256, @Nullable String certificate,
			@Nullable Set<String> operations, @Nullable List<String> keyPrefixes,
			@DefaultValue("false") boolean scripts, @DefaultValue("true") boolean sweeps,
			@DefaultValue("false") boolean analyses, @DefaultValue("false") boolean tunings,
			@DefaultValue List<String> callbacks, @DefaultValue List<String> sources,
			@DefaultValue PolicyLimits limits) {
	}

	/**
	 * The limits of a client. Each is 1 or more; no limit if left out.
	 *
	 * @param maxRecords the most records of a job
	 * @param maxBytes the largest body of a job, both as received and inflated
	 * @param rateLimit the most records or keys of a job per second
	 * @param maxJobs the most jobs at once that upload asynchronously, wait or run
	 */
	public record PolicyLimits(@Nullable Long maxRecords, @Nullable DataSize maxBytes, @Nullable Long rateLimit,
			@Nullable Integer maxJobs) {
	}

}
