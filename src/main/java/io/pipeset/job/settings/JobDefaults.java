package io.pipeset.job.settings;

import java.time.Duration;

import io.pipeset.record.Expiry;
import io.pipeset.record.Operation;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings that a job has where its call gives none.
 *
 * @param batchSize as in {@link Setting}; without it as many as are allowed
 * @param flush each, close or buffered:N
 * @param concurrency as in {@link Setting}
 * @param timeout as in {@link Setting}
 * @param maxErrors as in {@link Setting}
 * @param retries as in {@link Setting}
 * @param replicas as in {@link Setting}
 * @param replicasTimeout as in {@link Setting}
 * @param results as in {@link Setting}
 * @param op as in {@link Setting}
 * @param ttl as in {@link Setting}
 * @param ttlJitter as in {@link Setting}
 * @param encoding as in {@link Setting}
 * @param nulls as in {@link Setting}
 * @param rateLimit as in {@link Setting}
 * @param atomic as in {@link Setting}
 * @param coalesce as in {@link Setting}
 * @param dryRun as in {@link Setting}
 */
@ConfigurationProperties("pipeset.defaults")
public record JobDefaults(@Nullable Integer batchSize, @DefaultValue("buffered:1000") String flush,
		@DefaultValue("1") int concurrency, @DefaultValue("10s") Duration timeout, @Nullable Long maxErrors,
		@DefaultValue("0") int retries, @DefaultValue("0") int replicas, @DefaultValue("1s") Duration replicasTimeout,
		@DefaultValue("errors") Results results, @Nullable Operation op, @Nullable String ttl,
		@DefaultValue("0") String ttlJitter, @DefaultValue("utf8") Encoding encoding,
		@DefaultValue("refuse") Nulls nulls, @Nullable Long rateLimit, @DefaultValue("none") Atomic atomic,
		@DefaultValue("auto") Coalesce coalesce, @DefaultValue("false") boolean dryRun) {

	public JobDefaults {
		settings(batchSize, flush, concurrency, timeout, maxErrors, retries, replicas, replicasTimeout, results, op,
				ttl, ttlJitter, encoding, nulls, rateLimit, atomic, coalesce, dryRun);
	}

	/**
	 * These defaults as a job's settings.
	 * @return the settings
	 */
	public JobSettings toSettings() {
		return settings(this.batchSize, this.flush, this.concurrency, this.timeout, this.maxErrors, this.retries,
				this.replicas, this.replicasTimeout, this.results, this.op, this.ttl, this.ttlJitter, this.encoding,
				this.nulls, this.rateLimit, this.atomic, this.coalesce, this.dryRun);
	}

	private static @Nullable Long seconds(@Nullable String ttl) {
		Long seconds = (ttl != null) ? Expiry.parse(ttl) : null;
		if (ttl != null && seconds == null) {
			throw Setting.TTL.refused(Expiry.ALLOWED, ttl);
		}
		return seconds;
	}

	private static JobSettings settings(@Nullable Integer batchSize, String flush, int concurrency, Duration timeout,
			@Nullable Long maxErrors, int retries, int replicas, Duration replicasTimeout, Results results,
			@Nullable Operation op, @Nullable String ttl, String ttlJitter, Encoding encoding, Nulls nulls,
			@Nullable Long rateLimit, Atomic atomic, Coalesce coalesce, boolean dryRun) {
		try {
			return new JobSettings((batchSize != null) ? batchSize : JobSettings.maxBatchSize(atomic),
					Setting.FLUSH.parse(flush), concurrency, timeout, maxErrors, retries, replicas, replicasTimeout,
					results, op, false, new RecordDefaults(seconds(ttl), Setting.TTL_JITTER.parse(ttlJitter), encoding),
					new Mapping(null, nulls, ',', null), false, rateLimit, atomic, coalesce, dryRun);
		}
		catch (InvalidSettingException ex) {
			throw new IllegalArgumentException(
					"pipeset.defaults." + DataObjectPropertyName.toDashedForm(ex.setting()) + " " + ex.problem(), ex);
		}
	}

}
