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
 * A whole reply as a report shows it: integers and doubles as numbers, strings as strings
 * by their encoding, nil as null, arrays and sets as lists, and maps whose keys are
 * strings as maps.
 */
final class ReplyDecoder {

	/** Many JSON libraries read no more than some hundred levels. */
	private static final int MAX_DEPTH = 64;

	private static final String TOO_DEEP = "(nested too deep to be shown)";

	private final byte[] resp;

	private int at;

	private final Encoding encoding;

	private int depth;

	private int strings;

	private long stringBytes;

	private int largestString;

	/** The errors among the values so far. */
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
			case '-' -> error(Encoding.UTF8.show(this.resp, line, this.at - 2));
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

	/** How many errors there were among the values so far. */
	int errors() {
		return this.errors;
	}

	/** The first of these errors, or {@code null}. */
	@Nullable String firstError() {
		return this.firstError;
	}

	/** How many bulk strings were in the values so far. */
	int strings() {
		return this.strings;
	}

	/** The size of all bulk strings so far. */
	long stringBytes() {
		return this.stringBytes;
	}

	/** The size of the largest bulk string so far. */
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

	/** JSON has no number for infinity, and none for NaN. */
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

	/** A map, or a list of pairs where a key is no string. */
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

	/** Goes over values without a frame for each level of them. */
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

	/** Shows popped values by the encoding of their records. */
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
