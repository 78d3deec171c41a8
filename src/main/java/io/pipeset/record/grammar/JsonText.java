package io.pipeset.record.grammar;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.body.LineScanner;

/** Writes values of JSON. */
public final class JsonText {

	private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

	private JsonText() {
	}

	/** Appends a text as a string of JSON. */
	public static void appendString(ArgumentBytes out, byte[] text, int from, int length) {
		out.append('"');
		appendEscaped(out, text, from, length);
		out.append('"');
	}

	/** Appends bytes as a string of JSON, in Base64. */
	public static void appendBase64(ArgumentBytes out, byte[] bytes, int from, int length) {
		out.append('"');
		byte[] text = Base64.getEncoder().encode(Arrays.copyOfRange(bytes, from, from + length));
		out.append(text, 0, text.length);
		out.append('"');
	}

	/**
	 * Whether bytes are a number of JSON.
	 * @param to the index after the last byte
	 */
	public static boolean isNumber(byte[] bytes, int from, int to) {
		try {
			return from < to && JsonLiterals.kind(bytes[from]) == JsonKind.NUMBER
					&& JsonLiterals.skip(bytes, from, to) == to;
		}
		catch (JsonFault fault) {
			return false;
		}
	}

	/**
	 * Appends UTF-8 with escapes.
	 * @param length the length in bytes; nothing is appended if it is not positive
	 */
	private static void appendEscaped(ArgumentBytes out, byte[] bytes, int from, int length) {
		int to = from + length;
		int written = from;
		int at = from;
		while (at < to) {
			at = LineScanner.skipPlain(bytes, at, to);
			if (at < to && bytes[at] >= 0) {
				out.append(bytes, written, at - written);
				byte[] escape = escape(bytes[at]);
				out.append(escape, 0, escape.length);
				written = at + 1;
			}
			at++;
		}
		if (written < to) {
			out.append(bytes, written, to - written);
		}
	}

	private static byte[] escape(byte b) {
		return switch (b) {
			case '"', '\\' -> new byte[] { '\\', b };
			case '\n' -> new byte[] { '\\', 'n' };
			case '\r' -> new byte[] { '\\', 'r' };
			case '\t' -> new byte[] { '\\', 't' };
			default -> new byte[] { '\\', 'u', '0', '0', HEX[b >> 4], HEX[b & 0xF] };
		};
	}

}
