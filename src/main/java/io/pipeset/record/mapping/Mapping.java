package io.pipeset.record.mapping;

import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * How the rows and objects of a body become records.
 *
 * @param templates the templates that build records; none if the rows or objects are
 * already records
 * @param delimiter the ASCII character between the cells of a row
 * @param header the names of the columns; none if the first row contains them
 */
public record Mapping(@Nullable Templates templates, Nulls nulls, char delimiter, @Nullable List<String> header) {

	/** Rows and objects are already records, and nulls are refused. */
	public static final Mapping NONE = new Mapping(null, Nulls.REFUSE, ',', null);

	/**
	 * The memory that the templates and names need, in the job and in its report.
	 * @return bytes, 0 without templates and names
	 */
	public long bytes() {
		return ((this.templates != null) ? this.templates.bytes() : 0)
				+ ((this.header != null) ? Templates.bytes(this.header) : 0);
	}

	/**
	 * A template in its original form.
	 * @return its text, or a list of templates or names; {@code null} if there is none
	 */
	public @Nullable Object text(Function<Templates.Texts, @Nullable Object> which) {
		Object text = (this.templates != null) ? which.apply(this.templates.texts()) : null;
		return (text instanceof Template template) ? template.toString() : text;
	}

}
