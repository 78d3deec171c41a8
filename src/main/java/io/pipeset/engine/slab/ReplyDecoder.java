package io.pipeset.engine.slab;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.record.encoding.Encoding;
import io.pipeset.report.PoppedValues;
import org.jspecify.annotations.Nullable;

/**
 * Decodes a complete reply as a report shows it. Integers and doubles become numbers,
 * strings become strings by their encoding, and nil becomes null. Arrays and sets become
 * lists. Maps become maps if all keys are strings.
 */
final class ReplyDecoder {

	/** Many JSON libraries read only a few hundred levels of nesting. */
	private static final int MAX_DEPTH = 64;

	private static final String TOO_DEEP = "(nested too deep to be shown)";

	private final byte[] resp;

	private int at;

	private final Encoding encoding;

	private int depth;

	private int strings;

	private long stringBytes;

	private int largestString;

	private int errors;

	private @Nullable String firstError;

	ReplyDecoder(byte[] resp, int from, Encoding encoding) {
		this.resp = resp;
		this.encoding = encoding;
		this.at = from;
	}

	@Nullable Object next() {
		int start = this.at;
		int line = start + 1;
		this.at = Resp.skipLine(this.resp, start);
		return switch (this.resp[start]) {
			case '+' -> Encoding.UTF8.show(this.resp, line, this.at - 2);
			case '-' -> error(new String(this.resp, line, this.at - 2 - line, StandardCharsets.UTF_8));
			case ':' -> Resp.number(this.resp, line);
			case ',' -> decimal(ascii(line));
			case '(' -> new BigInteger(ascii(line));
			case '#' -> this.resp[line] == 't';
			case '$' -> bulk((int) Resp.number(this.resp, line), 0, this.encoding);
			case '!' -> error(bulk((int) Resp.number(this.resp, line), 0, Encoding.UTF8));
			case '=' -> bulk((int) Resp.number(this.resp, line), "txt:".length(), this.encoding);
			case '*', '~' -> list(start, Resp.number(this.resp, line));
			case '%' -> map(start, Resp.number(this.resp, line));
			case '|' -> {
				skip(2 * Resp.number(this.resp, line));
				yield next();
			}
			default -> null;
		};
	}

	int errors() {
		return this.errors;
	}

	@Nullable String firstError() {
		return this.firstError;
	}

	int strings() {
		return this.strings;
	}

	long stringBytes() {
		return this.stringBytes;
	}

	int largestString() {
		return this.largestString;
	}

	private @Nullable Object error(@Nullable Object message) {
		this.errors++;
		this.firstError = (this.firstError != null) ? this.firstError : String.valueOf(message);
		return message;
	}

	private String ascii(int from) {
		return new String(this.resp, from, this.at - 2 - from, StandardCharsets.US_ASCII);
	}

	/** Decodes a double. JSON has no numbers for infinity and NaN, so these stay text. */
	private static Object decimal(String text) {
		return (text.endsWith("inf") || text.endsWith("nan")) ? text : (Object) Double.valueOf(text);
	}

	private @Nullable Object bulk(int length, int prefix, Encoding encoding) {
		if (length < 0) {
			return null;
		}
		int from = this.at;
		this.at += length + 2;
		this.strings++;
		this.stringBytes += length;
		this.largestString = Math.max(this.largestString, length);
		return encoding.show(this.resp, from + prefix, from + length);
	}

	private @Nullable Object list(int start, long size) {
		if (size < 0) {
			return null;
		}
		if (this.depth == MAX_DEPTH) {
			return tooDeep(start);
		}
		this.depth++;
		List<@Nullable Object> elements = new ArrayList<>();
		for (long i = 0; i < size; i++) {
			elements.add(next());
		}
		this.depth--;
		return elements;
	}

	/** Decodes a map, or a list of pairs if a key is not a string. */
	private Object map(int start, long size) {
		if (this.depth == MAX_DEPTH) {
			return tooDeep(start);
		}
		this.depth++;
		List<List<@Nullable Object>> pairs = new ArrayList<>();
		Map<String, @Nullable Object> map = new LinkedHashMap<>();
		for (long i = 0; i < size; i++) {
			List<@Nullable Object> pair = new ArrayList<>();
			pair.add(next());
			pair.add(next());
			pairs.add(pair);
			if (pair.get(0) instanceof String key) {
				map.put(key, pair.get(1));
			}
		}
		this.depth--;
		return (map.size() == size) ? map : pairs;
	}

	private String tooDeep(int start) {
		this.at = start;
		skip(1);
		return TOO_DEEP;
	}

	/** Skips values without recursion, because they may be nested deep. */
	private void skip(long values) {
		for (long rest = values; rest > 0; rest--) {
			int start = this.at;
			this.at = Resp.skipLine(this.resp, start);
			switch (this.resp[start]) {
				case '$', '!', '=' -> {
					long length = Resp.number(this.resp, start + 1);
					this.at += (length < 0) ? 0 : (int) length + 2;
				}
				case '*', '~' -> rest += Math.max(0, Resp.number(this.resp, start + 1));
				case '%' -> rest += 2 * Resp.number(this.resp, start + 1);
				case '|' -> rest += 2 * Resp.number(this.resp, start + 1) + 1;
				default -> {
				}
			}
		}
	}

	/** Shows popped values in the encoding of their records. */
	record EncodedValues(Encoding encoding) implements PoppedValues.Display {

		@Override
		public Object show(byte[] bytes, int from, int to) {
			return this.encoding.show(bytes, from, to);
		}

		@Override
		public boolean isPlain() {
			return this.encoding == Encoding.UTF8;
		}

	}

}
