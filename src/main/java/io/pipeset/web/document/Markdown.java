package io.pipeset.web.document;

import java.util.regex.Pattern;

import org.springframework.web.util.HtmlUtils;

/**
 * The sentences of tables, whose links are those of the documentation, in other forms.
 */
final class Markdown {

	private static final Pattern LINK = Pattern.compile("\\[([^]]+)]\\([^)]+\\)");

	private static final Pattern CODE = Pattern.compile("`([^`]+)`");

	private Markdown() {
	}

	/** Markdown without links: nobody else has the pages that they lead to. */
	static String unlinked(String markdown) {
		return LINK.matcher(markdown).replaceAll("$1");
	}

	/** Plain text. */
	static String text(String markdown) {
		return CODE.matcher(unlinked(markdown)).replaceAll("$1");
	}

	/** HTML. */
	static String html(String markdown) {
		return CODE.matcher(HtmlUtils.htmlEscape(unlinked(markdown))).replaceAll("<code>$1</code>");
	}

}
