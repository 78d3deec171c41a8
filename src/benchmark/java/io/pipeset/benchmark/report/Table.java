package io.pipeset.benchmark.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Rows of text under a title.
 *
 * @param title the title
 * @param header the columns' names
 * @param rows the cells
 */
public record Table(String title, List<String> header, List<List<String>> rows) {

	/**
	 * Begins a table without rows.
	 * @param title the title
	 * @param header the columns' names
	 */
	public Table(String title, String... header) {
		this(title, List.of(header), new ArrayList<>());
	}

	/**
	 * Adds a row.
	 * @param cells one for each column
	 */
	public void add(String... cells) {
		// A pipe would end the cell.
		this.rows.add(Stream.of(cells).map((cell) -> cell.replace("|", "\\|")).toList());
	}

	/**
	 * The table as it stands in a document, and reads well on a terminal too.
	 * @return Markdown
	 */
	public String toMarkdown() {
		int[] widths = new int[this.header.size()];
		List<List<String>> all = new ArrayList<>();
		all.add(this.header);
		all.addAll(this.rows);
		for (List<String> row : all) {
			for (int i = 0; i < widths.length; i++) {
				widths[i] = Math.max(widths[i], row.get(i).length());
			}
		}
		StringBuilder text = new StringBuilder();
		line(text, this.header, widths);
		List<String> rule = new ArrayList<>();
		for (int i = 0; i < widths.length; i++) {
			rule.add((i == 0) ? "-".repeat(widths[i]) : "-".repeat(Math.max(1, widths[i] - 1)) + ":");
		}
		line(text, rule, widths);
		this.rows.forEach((row) -> line(text, row, widths));
		return text.toString();
	}

	private static void line(StringBuilder text, List<String> cells, int[] widths) {
		for (int i = 0; i < widths.length; i++) {
			String cell = cells.get(i);
			String padding = " ".repeat(Math.max(0, widths[i] - cell.length()));
			text.append("| ").append((i == 0) ? cell + padding : padding + cell).append(' ');
		}
		text.append("|\n");
	}

}
