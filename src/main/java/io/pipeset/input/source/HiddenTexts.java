package io.pipeset.input.source;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The quoted texts and comments of a query, which are hidden while its parameters are
 * looked for. Where they end depends on the product.
 *
 * @param texts the texts, with their quotes
 * @param sql the query, with a short text in single quotes in place of each of them
 */
record HiddenTexts(List<String> texts, String sql) {

	/** A quote in a text can be doubled, or follow a backslash. */
	private static final String AFTER_BACKSLASH = "Q(?:[^Q\\\\]++|\\\\.|QQ)*+Q";

	/** Two minus signs begin a comment only before a blank. */
	private static final Pattern MARIADB = Pattern.compile(AFTER_BACKSLASH.replace('Q', '\'') + "|"
			+ AFTER_BACKSLASH.replace('Q', '"') + "|`[^`]*`|#[^\n]*|--(?:(?=\\s)[^\n]*)?|/\\*.*?\\*/", Pattern.DOTALL);

	/** Comments can have comments in them. DuckDB and H2 have dollar quotes, too. */
	private static final Pattern POSTGRES = Pattern.compile("(?<![\\w$])[eE]" + AFTER_BACKSLASH.replace('Q', '\'')
			+ "|'[^']*'|\"[^\"]*\"|(?<![\\w$])(\\$(?:[^\\W\\d]\\w*)?\\$).*?\\1|--[^\n]*"
			+ "|/\\*(?:[^*/]++|/\\*.*?\\*/|/|\\*(?!/))*+\\*/", Pattern.DOTALL);

	private static final Pattern PLACE = Pattern.compile("'\uE000(\\d+)'");

	/** Hides the texts of a query to a database with this JDBC URL. */
	static HiddenTexts of(String sql, String url) {
		Pattern pattern = (url.matches("jdbc:(mariadb|mysql):.*")) ? MARIADB : POSTGRES;
		List<String> texts = pattern.matcher(sql).results().map(MatchResult::group).toList();
		int[] next = { 0 };
		return new HiddenTexts(texts, pattern.matcher(sql).replaceAll((match) -> "'\uE000" + next[0]++ + "'"));
	}

	/** Puts the texts back. */
	String restoreIn(String sql) {
		return PLACE.matcher(sql)
			.replaceAll((match) -> Matcher.quoteReplacement(this.texts.get(Integer.parseInt(match.group(1)))));
	}

}
