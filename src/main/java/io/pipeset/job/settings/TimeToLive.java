package io.pipeset.job.settings;

import java.util.function.Function;

import io.pipeset.record.mapping.Template;
import org.jspecify.annotations.Nullable;

/**
 * The time to live of a job's keys, or the moment of their expiry: the same for all of
 * them, or a template.
 *
 * @param same the same for all; {@code null} for a template
 * @param template the template; {@code null} for the same for all
 */
record TimeToLive(@Nullable Long same, @Nullable Template template) {

	static final TimeToLive NONE = new TimeToLive(null, null);

	/**
	 * Reads an expiry as a setting has it.
	 * @param parser reads one that is the same for all; {@code null} if a text is none
	 */
	static Function<String, @Nullable TimeToLive> reader(Function<String, @Nullable Long> parser) {
		return (text) -> {
			Long same = parser.apply(text);
			Template template = (same != null) ? null : Template.parse(text);
			return (same != null || (template != null && !template.names().isEmpty())) ? new TimeToLive(same, template)
					: null;
		};
	}

	boolean isGiven() {
		return this.same != null || this.template != null;
	}

}
