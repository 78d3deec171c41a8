package io.pipeset.web;

import java.util.UUID;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pipeset.job.Client;
import io.pipeset.job.GeneratedProperties;
import io.pipeset.job.JobLimits;
import io.pipeset.job.pop.Receipts;
import io.pipeset.job.run.JobOwner;
import io.pipeset.job.source.QuerySources;
import io.pipeset.job.source.UrlSources;
import io.pipeset.report.JobMeters;

import org.springframework.stereotype.Component;

/**
 * The endpoints that the service calls to warm itself up: the controllers of jobs, under
 * other paths. Their jobs have no metrics, are not logged, and may use keys that begin
 * with {@code pipeset:}. The endpoints answer only while they are open, and only if the
 * request has their password in a header. All other requests get 404.
 */
@Component
public class WarmUpEndpoints {

	/** The beginning of the paths. */
	public static final String PREFIX = "/warm-up";

	/** The header that carries the password. */
	public static final String HEADER = "Pipeset-Warm-Up";

	private final JobCalls calls;

	private final JobLimits limits;

	private final Receipts receipts;

	private final SettingsReader settings;

	private final Uploads uploads;

	private final RecordCalls records;

	private final UrlSources urls;

	private final QuerySources queries;

	WarmUpEndpoints(JobCalls calls, JobLimits limits, Receipts receipts, SettingsReader settings, Uploads uploads,
			RecordCalls records, UrlSources urls, QuerySources queries) {
		this.queries = queries;
		this.urls = urls;
		this.calls = calls;
		this.limits = limits;
		this.receipts = receipts;
		this.settings = settings;
		this.uploads = uploads;
		this.records = records;
	}

	/**
	 * Opens the endpoints.
	 * @return the password, a new one each time
	 */
	public String open() {
		String password = UUID.randomUUID().toString();
		// The registry is of the same type as that of callers' jobs, so that the warm-up
		// runs the same code.
		JobOwner own = new JobOwner(new JobMeters(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)),
				Client.SERVICE, null);
		RecordCalls records = this.records.forService(own);
		this.calls.open(PREFIX, password,
				new JobsController(this.settings, this.uploads, records, this.urls, this.queries),
				new ShortcutsController(this.limits, new GeneratedProperties(true), this.receipts, this.settings,
						this.uploads, records));
		return password;
	}

	/** Closes the endpoints. */
	public void close() {
		this.calls.close();
	}

}
