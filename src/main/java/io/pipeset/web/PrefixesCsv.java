package io.pipeset.web;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import io.pipeset.keyspace.Analysis;
import io.pipeset.keyspace.Analysis.Prefix;

/**
 * The prefixes of an analysis as
 * <a href="https://www.rfc-editor.org/rfc/rfc4180">CSV</a>, a line each, with a column
 * for each type that there is.
 */
final class PrefixesCsv {

	/** The characters that begin a formula in a spreadsheet, and the quote against it. */
	private static final String FORMULAS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20'";

	private static final String QUOTED = ",;\t\"\r\n";

	private static final String BYTES = "{\"base64\":";

	private PrefixesCsv() {
	}

	static byte[] of(Analysis analysis) {
		List<String> types = analysis.types().stream().map(Analysis.Type::type).toList();
		StringBuilder csv = new StringBuilder("prefix,keys,bytes,withoutTtl");
		types.forEach((type) -> csv.append(',').append(cell(harmless(type))));
		csv.append("\r\n");
		for (Prefix prefix : analysis.prefixes()) {
			csv.append(cell(text(prefix.prefix()))).append(',').append(prefix.keys()).append(',');
			if (prefix.bytes() != null) {
				csv.append(prefix.bytes());
			}
			csv.append(',').append(prefix.withoutTtl());
			types.forEach((type) -> csv.append(',').append(prefix.types().getOrDefault(type, 0L)));
			csv.append("\r\n");
		}
		return csv.toString().getBytes(StandardCharsets.UTF_8);
	}

	/** A prefix that is not UTF-8 is written as in the JSON answer. */
	private static String text(Object prefix) {
		return (prefix instanceof Map<?, ?> bytes) ? BYTES + '"' + bytes.get("base64") + "\"}"
				: harmless(prefix.toString());
	}

	/** A text that no spreadsheet takes for a formula, and nobody for bytes. */
	private static String harmless(String text) {
		boolean formula = !text.isEmpty() && FORMULAS.indexOf(text.charAt(0)) >= 0;
		return (formula || text.startsWith(BYTES)) ? '\'' + text : text;
	}

	/** A cell, whichever character a spreadsheet splits lines at. */
	private static String cell(String text) {
		boolean plain = text.chars().noneMatch((c) -> QUOTED.indexOf(c) >= 0);
		return (plain) ? text : '"' + text.replace("\"", "\"\"") + '"';
	}

}
