package io.pipeset.web.document;

import java.util.regex.Pattern;

import org.springframework.web.util.HtmlUtils;

/**
 * Converts the Markdown of settings, calls and problems for answers. Its links lead to
 * pages of the documentation.
 */
final class Markdown {

	private static final Pattern LINK = Pattern.compile("\\[([^]]+)]\\([^)]+\\)");

	private static final Pattern CODE = Pattern.compile("`([^`]+)`");

	private Markdown() {
	}

	/** Removes links, because callers do not have the pages of the documentation. */
	static String withoutLinks(String markdown) {
		return LINK.matcher(markdown).replaceAll("$1");
	}

	static String toText(String markdown) {
		return CODE.matcher(withoutLinks(markdown)).replaceAll("$1");
	}

	static String toHtml(String markdown) {
		return CODE.matcher(HtmlUtils.htmlEscape(withoutLinks(markdown))).replaceAll("<code>$1</code>");
	}

}
