package io.pipeset.request;

import java.util.function.Function;

import io.pipeset.record.mapping.Template;
import org.jspecify.annotations.Nullable;

/**
 * The time to live of a job's keys, or the time of their expiry. It is the same for all
 * keys, or a template gives one for each.
 *
 * @param same seconds to live, or the timestamp in milliseconds since 1970, for all keys;
 * {@code null} for a template
 * @param template the template; {@code null} if all keys have the same
 */
record TimeToLive(@Nullable Long same, @Nullable Template template) {

	static final TimeToLive NONE = new TimeToLive(null, null);

	/**
	 * Parses the text of a setting.
	 * @param parser parses a fixed value; returns {@code null} if the text is not one
	 */
	static Function<String, @Nullable TimeToLive> reader(Function<String, @Nullable Long> parser) {
		return (text) -> {
			Long same = parser.apply(text);
			Template template = (same != null) ? null : Template.parse(text);
			return (template == null || !template.isLiteral()) ? new TimeToLive(same, template) : null;
		};
	}

	boolean isGiven() {
		return this.same != null || this.template != null;
	}

}
