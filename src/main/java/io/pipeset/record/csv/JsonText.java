package io.pipeset.record.csv;

import java.nio.charset.StandardCharsets;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.body.LineScanner;
import io.pipeset.record.memory.MemoryReservation;

/** Escapes cells for JSON strings. */
final class JsonText {

	private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

	private JsonText() {
	}

	/**
	 * Escapes a text.
	 * @return the text, with escapes where JSON needs them
	 */
	static String escaped(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		ArgumentBytes out = new ArgumentBytes(MemoryReservation.UNLIMITED);
		appendEscaped(out, bytes, 0, bytes.length);
		return new String(out.bytes(), out.start(), out.length(), StandardCharsets.UTF_8);
	}

	/**
	 * Appends UTF-8 with escapes.
	 * @param length the length in bytes; nothing is appended if it is not positive
	 */
	static void appendEscaped(ArgumentBytes out, byte[] bytes, int from, int length) {
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
