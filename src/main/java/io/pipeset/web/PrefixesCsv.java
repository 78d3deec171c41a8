package io.pipeset.web;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import io.pipeset.keyspace.Analysis;
import io.pipeset.keyspace.Analysis.Prefix;

/**
 * The prefixes of an analysis as
 * <a href="https://www.rfc-editor.org/rfc/rfc4180">CSV</a>, with a row for each prefix
 * and a column for each type of key.
 */
final class PrefixesCsv {

	/**
	 * The characters that begin a formula in a spreadsheet, and the quote before them.
	 */
	private static final String FORMULA_STARTS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20'";

	private static final String SEPARATORS = ",;\t\"\r\n";

	private static final String BASE64_START = "{\"base64\":";

	private PrefixesCsv() {
	}

	static byte[] of(Analysis analysis) {
		List<String> types = analysis.types().stream().map(Analysis.Type::type).toList();
		StringBuilder csv = new StringBuilder("prefix,keys,bytes,withoutTtl");
		types.forEach((type) -> csv.append(',').append(cell(escaped(type))));
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

	/** The text of a prefix. If it is not UTF-8, its text is that of the JSON report. */
	private static String text(Object prefix) {
		return (prefix instanceof Map<?, ?> bytes) ? BASE64_START + '"' + bytes.get("base64") + "\"}"
				: escaped(prefix.toString());
	}

	/** Adds a quote if the text looks like a formula, or like bytes in base64. */
	private static String escaped(String text) {
		boolean formula = !text.isEmpty() && FORMULA_STARTS.indexOf(text.charAt(0)) >= 0;
		return (formula || text.startsWith(BASE64_START)) ? '\'' + text : text;
	}

	/** A cell, in quotes if a spreadsheet might split it. */
	private static String cell(String text) {
		boolean plain = text.chars().noneMatch((c) -> SEPARATORS.indexOf(c) >= 0);
		return (plain) ? text : '"' + text.replace("\"", "\"\"") + '"';
	}

}
