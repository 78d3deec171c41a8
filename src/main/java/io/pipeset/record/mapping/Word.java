package io.pipeset.record.mapping;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A word of {@code args} or {@code command}: a template, or a bracket that opens or
 * closes a group. Groups nest. A group is left out if a name in it, outside of inner
 * groups, is null or absent.
 *
 * @param text the word as it was written
 * @param template the template; {@code null} for a bracket
 */
public record Word(String text, @Nullable Template template) {

	private static final String OPEN = "[";

	private static final String CLOSE = "]";

	/** Words are text, so that a byte beyond ASCII cannot be written by its number. */
	private static final int LAST_ASCII = 0x7F;

	/**
	 * Parses a value of {@code args}. A bracket alone is written twice to stand for
	 * itself.
	 * @throws TemplateException if it is no template
	 */
	public static Word parse(String text) {
		if (text.equals(OPEN) || text.equals(CLOSE)) {
			return new Word(text, null);
		}
		boolean doubled = text.equals("[[") || text.equals("]]");
		return new Word(text, Template.parse((doubled) ? text.substring(1) : text));
	}

	/**
	 * Parses a command in the words of redis-cli, by the rules of {@code sdssplitargs} in
	 * Redis's <a href="https://github.com/redis/redis/blob/7.0/src/sds.c">sds.c</a>.
	 * Quoted words are templates too, but never brackets of a group.
	 * @return the words, the operation's name first
	 * @throws TemplateException if quotes or braces do not match
	 */
	public static List<Word> parseCommand(String text) {
		List<Word> words = new ArrayList<>();
		int at = skipSpace(text, 0);
		while (at < text.length()) {
			StringBuilder word = new StringBuilder();
			char quote = text.charAt(at);
			boolean quoted = quote == '"' || quote == '\'';
			int end = (quoted) ? readQuoted(text, at, word) : readPlain(text, at, word);
			if (end < 0) {
				throw TemplateException.noTemplate();
			}
			String read = word.toString();
			boolean bracket = !quoted && (read.equals(OPEN) || read.equals(CLOSE));
			words.add(new Word(text.substring(at, end), (bracket) ? null : Template.parse(read)));
			at = skipSpace(text, end);
		}
		if (words.isEmpty()) {
			throw TemplateException.noTemplate();
		}
		return List.copyOf(words);
	}

	/** Blanks in braces belong to a name. */
	private static int readPlain(String text, int from, StringBuilder word) {
		int at = from;
		boolean name = false;
		while (at < text.length() && (name || !isSpace(text.charAt(at)))) {
			char c = text.charAt(at++);
			if (!name && (c == '"' || c == '\'')) {
				return -1;
			}
			boolean doubled = at < text.length() && text.charAt(at) == c;
			if ((c == '{' || c == '}') && doubled && !name) {
				word.append(c);
				at++;
			}
			else if (c == '{' || c == '}') {
				name = c == '{';
			}
			word.append(c);
		}
		return at;
	}

	/**
	 * Reads a word in quotes.
	 * @return the index after the closing quote, or -1 if there is none, or no blank
	 * after it
	 */
	private static int readQuoted(String text, int from, StringBuilder word) {
		char quote = text.charAt(from);
		int at = from + 1;
		while (at < text.length() && text.charAt(at) != quote) {
			char c = text.charAt(at++);
			if (c != '\\' || at == text.length()) {
				word.append(c);
			}
			else if (quote == '\'') {
				word.append((text.charAt(at) == '\'') ? text.charAt(at++) : c);
			}
			else if (text.charAt(at) == 'x' && at + 2 < text.length() && HexFormat.isHexDigit(text.charAt(at + 1))
					&& HexFormat.isHexDigit(text.charAt(at + 2))) {
				int code = HexFormat.fromHexDigits(text, at + 1, at + 3);
				if (code > LAST_ASCII) {
					return -1;
				}
				word.append((char) code);
				at += 3;
			}
			else {
				word.append(unescape(text.charAt(at++)));
			}
		}
		boolean closed = at < text.length() && (at + 1 == text.length() || isSpace(text.charAt(at + 1)));
		return (closed) ? at + 1 : -1;
	}

	private static char unescape(char letter) {
		return switch (letter) {
			case 'n' -> '\n';
			case 'r' -> '\r';
			case 't' -> '\t';
			case 'b' -> '\b';
			case 'a' -> 0x07;
			default -> letter;
		};
	}

	private static int skipSpace(String text, int from) {
		int at = from;
		while (at < text.length() && isSpace(text.charAt(at))) {
			at++;
		}
		return at;
	}

	private static boolean isSpace(char c) {
		return c == ' ' || (c >= '\t' && c <= '\r');
	}

	/**
	 * Checks that groups are closed, and may be left out.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	public static @Nullable String problem(List<Word> words) {
		// For each open group, whether a value of its own may be missing.
		Deque<Boolean> open = new ArrayDeque<>();
		for (Word word : words) {
			if (word.opens()) {
				open.push(false);
			}
			else if (!word.closes()) {
				if (!open.isEmpty() && word.values().stream().anyMatch(Value::mayBeMissing)) {
					open.pop();
					open.push(true);
				}
			}
			else if (open.isEmpty()) {
				return "closes a group with ']' that no '[' opens; a bracket that is meant is written twice in"
						+ " 'args', and stands in quotes in 'command'";
			}
			else if (!open.pop()) {
				return "has a group without a column or member of its own that may be missing, so it would never be"
						+ " left out: name one in braces, without a default";
			}
		}
		return (open.isEmpty()) ? null : "opens a group with '[' that no ']' closes; a bracket that is meant is"
				+ " written twice in 'args', and stands in quotes in 'command'";
	}

	/** Whether it opens a group. */
	public boolean opens() {
		return this.template == null && this.text.equals(OPEN);
	}

	/** Whether it closes a group. */
	public boolean closes() {
		return this.template == null && this.text.equals(CLOSE);
	}

	/** The values in it, none for a bracket. */
	List<Value> values() {
		return (this.template != null) ? this.template.values() : List.of();
	}

	/** Whether it is a text or bracket that is the same for all rows. */
	public boolean isLiteral() {
		return this.template == null || this.template.isLiteral();
	}

	/** The text without its quotes; {@code null} if it depends on the row. */
	public @Nullable String literal() {
		return (this.template != null && this.template.isLiteral()) ? this.template.literal() : null;
	}

	@Override
	public String toString() {
		return this.text;
	}

}
