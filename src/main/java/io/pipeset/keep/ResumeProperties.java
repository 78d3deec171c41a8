package io.pipeset.keep;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How interrupted jobs are resumed.
 *
 * @param resume whether the service resumes interrupted jobs by itself
 * @param resumeWithin how long after the end of its process a job is resumed without a
 * request, 30 seconds to 30 days; what an older job would write may be out of date
 */
@ConfigurationProperties("pipeset.jobs")
public record ResumeProperties(@DefaultValue("auto") Resume resume, @DefaultValue("15m") Duration resumeWithin) {

	public ResumeProperties {
		if (resumeWithin.compareTo(Duration.ofSeconds(30)) < 0 || resumeWithin.compareTo(Duration.ofDays(30)) > 0) {
			throw new IllegalArgumentException(
					"pipeset.jobs.resume-within must be from 30s to 30d, not " + resumeWithin);
		}
	}

	/** Who resumes interrupted jobs. */
	public enum Resume {

		/** The service, if that does no harm. */
		AUTO,

		/** Callers only. */
		MANUAL

	}

}
