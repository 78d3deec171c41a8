package io.pipeset.job;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.pipeset.record.Operation;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The callers that have keys, and what each of them may do. It is checked by whoever
 * makes {@link Client clients} of it, as an error of the binder would quote a value that
 * may be a key.
 *
 * @param clients the clients by their names; without any, callers have no keys, and reach
 * the service from its own machine only
 */
@ConfigurationProperties("pipeset")
public record ClientsProperties(@DefaultValue Map<String, Policy> clients) {

	/** Whether callers have no keys. */
	public boolean isEmpty() {
		return this.clients.isEmpty();
	}

	/**
	 * A client's keys and certificate, and what it may do with any of them.
	 *
	 * @param keySha256 the SHA-256 of each of its keys, 64 hexadecimal digits; two while
	 * a key is replaced
	 * @param certificate the subject of its certificate, a distinguished name as of RFC
	 * 2253, if it may call with one
	 * @param operations the operations that its records may have; all if it is left out
	 * @param keyPrefixes the beginnings of the keys that its records may have; any if it
	 * is left out
	 * @param scripts whether it may load scripts and run them, which prefixes do not hold
	 * @param sweeps whether it may run jobs on the keys that SCAN finds, among its own
	 * @param analyses whether it may look at all keys, whoever they belong to
	 * @param tunings whether it may load Redis as fast as it can
	 * @param limits its limits, beside those of the service
	 */
	public record Policy(@DefaultValue List<String> keySha256, @Nullable String certificate,
			@Nullable Set<Operation> operations, @Nullable List<String> keyPrefixes,
			@DefaultValue("false") boolean scripts, @DefaultValue("true") boolean sweeps,
			@DefaultValue("false") boolean analyses, @DefaultValue("false") boolean tunings,
			@DefaultValue PolicyLimits limits) {
	}

	/**
	 * The limits of a client, each of which is 1 or more, or left out for none.
	 *
	 * @param maxRecords the records of a job
	 * @param maxBytes the body of a job, as it comes over the wire and inflated
	 * @param rateLimit the records or keys a second of a job
	 * @param maxJobs the jobs that are uploaded for later, wait or run at once
	 */
	public record PolicyLimits(@Nullable Long maxRecords, @Nullable DataSize maxBytes, @Nullable Long rateLimit,
			@Nullable Integer maxJobs) {
	}

}
