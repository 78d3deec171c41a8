package io.pipeset.web;

import java.util.UUID;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pipeset.job.Client;
import io.pipeset.job.GeneratedProperties;
import io.pipeset.job.JobLimits;
import io.pipeset.job.pop.Receipts;
import io.pipeset.job.run.JobOwner;
import io.pipeset.report.JobMeters;

import org.springframework.stereotype.Component;

/**
 * The calls for jobs once more, for the service itself: the same controllers under paths
 * of their own. Their jobs count in no meters, are not logged, and may use keys under
 * {@code pipeset:}. Only requests with the right password in a header reach them, and
 * only while they are open; all others are answered 404.
 */
@Component
public class WarmUpEndpoints {

	/** The beginning of their paths. */
	public static final String PREFIX = "/warm-up";

	/** The header that carries the password. */
	public static final String HEADER = "Pipeset-Warm-Up";

	private final JobCalls calls;

	private final JobLimits limits;

	private final Receipts receipts;

	private final SettingsReader settings;

	private final Uploads uploads;

	private final RecordCalls records;

	WarmUpEndpoints(JobCalls calls, JobLimits limits, Receipts receipts, SettingsReader settings, Uploads uploads,
			RecordCalls records) {
		this.calls = calls;
		this.limits = limits;
		this.receipts = receipts;
		this.settings = settings;
		this.uploads = uploads;
		this.records = records;
	}

	/**
	 * Opens the calls.
	 * @return their password, which is a new one each time
	 */
	public String open() {
		String password = UUID.randomUUID().toString();
		// A registry like that of callers' jobs, so that the same code runs.
		JobOwner own = new JobOwner(new JobMeters(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)),
				Client.SERVICE, null);
		RecordCalls records = this.records.forService(own);
		this.calls.open(PREFIX, password, new JobsController(this.settings, this.uploads, records),
				new ShortcutsController(this.limits, new GeneratedProperties(true), this.receipts, this.settings,
						this.uploads, records));
		return password;
	}

	/** Closes the calls again. */
	public void close() {
		this.calls.close();
	}

}
