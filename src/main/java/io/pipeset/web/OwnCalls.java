package io.pipeset.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pipeset.job.JobLimits;
import io.pipeset.job.Jobs;
import io.pipeset.report.JobMeters;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * The calls for jobs once more, for the service itself: the same controllers under paths
 * of their own. Their jobs count in no meters, are not logged, and may use keys under
 * {@code pipeset:}. Only who sends the header with the right password reaches them, and
 * only while they are open; everybody else is answered 404.
 */
@Component
@ConditionalOnWebApplication
public class OwnCalls {

	/** The beginning of their paths. */
	public static final String PREFIX = "/warm-up";

	/** The header that carries the password. */
	public static final String HEADER = "Pipeset-Warm-Up";

	private final RequestMappingHandlerMapping mapping;

	private final Jobs jobs;

	private final JobLimits limits;

	private final SettingsReader settings;

	private final Uploads uploads;

	private final Reports reports;

	private final List<RequestMappingInfo> open = new ArrayList<>();

	OwnCalls(@Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping mapping, Jobs jobs,
			JobLimits limits, SettingsReader settings, Uploads uploads, Reports reports) {
		this.mapping = mapping;
		this.jobs = jobs;
		this.limits = limits;
		this.settings = settings;
		this.uploads = uploads;
		this.reports = reports;
	}

	/**
	 * Opens the calls.
	 * @return their password, which is a new one each time
	 */
	public String open() {
		String password = UUID.randomUUID().toString();
		// A registry like that of callers' jobs, so that the same code runs.
		Jobs own = this.jobs.own(new JobMeters(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)));
		JobsController any = new JobsController(own, this.settings, this.uploads, this.reports);
		ShortcutsController shortcuts = new ShortcutsController(own, this.limits, this.settings, this.uploads,
				this.reports);
		for (Map.Entry<RequestMappingInfo, HandlerMethod> call : this.mapping.getHandlerMethods().entrySet()) {
			Class<?> type = call.getValue().getBeanType();
			if (type == JobsController.class || type == ShortcutsController.class) {
				String[] paths = call.getKey()
					.getPatternValues()
					.stream()
					.map((path) -> PREFIX + path)
					.toArray(String[]::new);
				RequestMappingInfo info = RequestMappingInfo.paths(paths)
					.methods(RequestMethod.POST)
					.headers(HEADER + "=" + password)
					.options(this.mapping.getBuilderConfiguration())
					.build();
				this.mapping.registerMapping(info, (type == JobsController.class) ? any : shortcuts,
						call.getValue().getMethod());
				this.open.add(info);
			}
		}
		return password;
	}

	/** Closes the calls again. */
	public void close() {
		this.open.forEach(this.mapping::unregisterMapping);
		this.open.clear();
	}

}
