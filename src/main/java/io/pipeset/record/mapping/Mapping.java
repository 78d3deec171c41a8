package io.pipeset.record.mapping;

import java.util.List;
import java.util.function.Function;

import io.pipeset.record.Operation;
import org.jspecify.annotations.Nullable;

/**
 * How the rows and objects of a body are read.
 *
 * @param templates the templates that make records of them, or none where they are
 * records already
 * @param cells how the cells of rows are written
 */
public record Mapping(@Nullable Templates templates, Nulls nulls, CellSyntax cells, Header header, Rows rows) {

	/** Rows and objects are records already, and have their nulls refused. */
	public static final Mapping NONE = new Mapping(null, Nulls.REFUSE, CellSyntax.PLAIN, Header.FIRST_ROW,
			Rows.OBJECTS);

	/**
	 * The memory that the templates and names take, for the job and in its report.
	 * @return their size in bytes, 0 without any
	 */
	public long bytes() {
		return ((this.templates != null) ? this.templates.bytes() : 0) + Templates.bytes(this.header.names());
	}

	/** The operations that the templates make records of. */
	public List<Operation> operations() {
		return (this.templates != null) ? this.templates.operations() : List.of();
	}

	/**
	 * A template as it was written.
	 * @return its text, or a list of texts; {@code null} if there is none
	 */
	public @Nullable Object text(Function<Templates.Texts, @Nullable Object> which) {
		Object text = (this.templates != null) ? which.apply(this.templates.texts()) : null;
		return (text instanceof Template template) ? template.toString() : text;
	}

	/** Whether a row can be posted again by itself, and makes the same records. */
	public boolean rowsAreWhole() {
		Templates templates = this.templates;
		return templates == null || !templates.nameAround(this.rows);
	}

}
