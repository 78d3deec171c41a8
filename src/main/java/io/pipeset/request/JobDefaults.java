package io.pipeset.request;

import java.time.Duration;

import io.pipeset.record.Expiry;
import io.pipeset.record.Operation;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.CellSyntax;
import io.pipeset.record.mapping.Header;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Rows;
import io.pipeset.report.Results;
import io.pipeset.request.JobSettings.Batching;
import io.pipeset.request.JobSettings.Check;
import io.pipeset.request.JobSettings.Pace;
import io.pipeset.request.JobSettings.Records;
import io.pipeset.request.JobSettings.Reliability;
import io.pipeset.request.JobSettings.Reporting;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The defaults of a job's settings, one property for each. */
@ConfigurationProperties("pipeset.defaults")
public final class JobDefaults {

	private final JobSettings settings;

	/**
	 * Checks the values of the properties. {@link Setting} describes each.
	 * @param batchSize commands; the most that are allowed if left out
	 * @param flush each, close or buffered:N
	 * @throws IllegalArgumentException if a value is not allowed
	 */
	public JobDefaults(@Nullable Integer batchSize, @DefaultValue("buffered:1000") String flush,
			@DefaultValue("1") int concurrency, @DefaultValue("10s") Duration timeout, @Nullable Long maxErrors,
			@DefaultValue("0") int retries, @DefaultValue("0") int replicas,
			@DefaultValue("1s") Duration replicasTimeout, @DefaultValue("errors") Results results, @Nullable String op,
			@Nullable String ttl, @DefaultValue("0") String ttlJitter, @DefaultValue("utf8") Encoding encoding,
			@DefaultValue("refuse") Nulls nulls, @Nullable Long rateLimit, @Nullable Duration maxLatency,
			@DefaultValue("none") Atomic atomic, @DefaultValue("auto") Coalesce coalesce,
			@DefaultValue("false") boolean dryRun) {
		try {
			this.settings = new JobSettings(
					new Batching((batchSize != null) ? batchSize : JobSettings.maxBatchSize(atomic, false),
							Setting.FLUSH.parse(flush), concurrency, atomic, coalesce, false),
					new Reliability(timeout, retries, replicas, replicasTimeout), new Pace(rateLimit, maxLatency),
					new Reporting(results, maxErrors, null, null),
					new Records(operation(op), false,
							new RecordDefaults(seconds(ttl), null, null, Setting.TTL_JITTER.parse(ttlJitter), encoding),
							new Mapping(null, checked(nulls), CellSyntax.PLAIN, Header.FIRST_ROW, Rows.OBJECTS), false,
							null),
					new Check(dryRun, false, null));
		}
		catch (InvalidSettingException ex) {
			throw new IllegalArgumentException(
					"pipeset.defaults." + DataObjectPropertyName.toDashedForm(ex.setting()) + " " + ex.problem(), ex);
		}
	}

	/** These defaults as a job's settings. */
	public JobSettings toSettings() {
		return this.settings;
	}

	private static @Nullable Operation operation(@Nullable String name) {
		Operation operation = (name != null) ? Operation.find(name) : null;
		if (name != null && operation == null) {
			throw Setting.OP.refused("one of " + Operation.names(), Excerpt.of(name));
		}
		return operation;
	}

	/** Only a request whose operation is SET can have its nulls delete keys. */
	private static Nulls checked(Nulls nulls) {
		if (nulls == Nulls.DELETE) {
			throw Setting.NULLS.refused("refuse, skip or empty", nulls.label());
		}
		return nulls;
	}

	private static @Nullable Long seconds(@Nullable String ttl) {
		Long seconds = (ttl != null) ? Expiry.parse(ttl) : null;
		if (ttl != null && seconds == null) {
			throw Setting.TTL.refused(Expiry.ALLOWED, ttl);
		}
		return seconds;
	}

}
