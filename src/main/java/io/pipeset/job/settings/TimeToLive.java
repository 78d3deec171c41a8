package io.pipeset.job.settings;

import io.pipeset.record.Expiry;
import io.pipeset.record.mapping.Template;
import org.jspecify.annotations.Nullable;

/**
 * The time to live of a job's keys: the same for all of them, or a template.
 *
 * @param seconds the same for all; {@code null} for a template
 * @param template the template; {@code null} for the same for all
 */
record TimeToLive(@Nullable Long seconds, @Nullable Template template) {

	/**
	 * Reads a time to live as a setting has it.
	 * @return it, or {@code null} if the text is none
	 */
	static @Nullable TimeToLive parse(String text) {
		Long seconds = Expiry.parse(text);
		if (seconds != null) {
			return new TimeToLive(seconds, null);
		}
		Template template = Template.parse(text);
		return (template != null && !template.names().isEmpty()) ? new TimeToLive(null, template) : null;
	}

}
