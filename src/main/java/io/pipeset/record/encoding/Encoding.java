package io.pipeset.record.encoding;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** How strings in bodies and reports represent bytes. */
public enum Encoding {

	/** The bytes are the string's UTF-8. */
	UTF8 {
		@Override
		public Object show(byte[] bytes, int from, int to) {
			if (isAscii(bytes, from, to)) {
				return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
			}
			try {
				return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, to - from)).toString();
			}
			catch (CharacterCodingException ex) {
				return Map.of("base64", BASE64.show(bytes, from, to));
			}
		}
	},

	/**
	 * The string is the Base64 of the bytes, by
	 * <a href="https://www.rfc-editor.org/rfc/rfc4648#section-4">RFC 4648</a>.
	 */
	BASE64 {
		@Override
		public Object show(byte[] bytes, int from, int to) {
			return Base64.getEncoder().encodeToString(Arrays.copyOfRange(bytes, from, to));
		}
	};

	private static final int CHUNK_CHARACTERS = 8 << 10;

	private static final Encoding[] ALL = values();

	private final String label = name().toLowerCase(Locale.ROOT);

	private final byte[] bytes = this.label.getBytes(StandardCharsets.US_ASCII);

	/**
	 * Finds an encoding by its label.
	 * @param bytes the array that holds the label, in lower case
	 * @return the encoding, or {@code null}
	 */
	public static @Nullable Encoding find(byte[] bytes, int offset, int length) {
		for (Encoding encoding : ALL) {
			byte[] word = encoding.bytes;
			if (Arrays.equals(word, 0, word.length, bytes, offset, offset + length)) {
				return encoding;
			}
		}
		return null;
	}

	/** The encoding's name in settings, records and reports. */
	public String label() {
		return this.label;
	}

	/**
	 * Represents bytes in a report.
	 * @param to the index after the last byte
	 * @return a string; {@code {"base64": "…"}} if the encoding is UTF-8 and the bytes
	 * are not
	 */
	public abstract Object show(byte[] bytes, int from, int to);

	/** Whether bytes are UTF-8. */
	public static boolean isUtf8(byte[] source, int offset, int length) {
		ByteBuffer bytes = ByteBuffer.wrap(source, offset, length);
		CharBuffer chunk = CharBuffer.allocate(Math.min(length, CHUNK_CHARACTERS));
		CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
		CoderResult result;
		do {
			result = decoder.decode(bytes, chunk.clear(), true);
		}
		while (result.isOverflow());
		return !result.isError();
	}

	/**
	 * Whether bytes are ASCII.
	 * @param to the index after the last byte
	 */
	public static boolean isAscii(byte[] bytes, int from, int to) {
		for (int i = from; i < to; i++) {
			if (bytes[i] < 0) {
				return false;
			}
		}
		return true;
	}

}
