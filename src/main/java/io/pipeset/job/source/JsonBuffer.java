package io.pipeset.job.source;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/** Values of JSON in UTF-8, one after another. The buffer is kept when it is cleared. */
final class JsonBuffer {

	private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

	/** A buffer that a large row has made larger than this is given up. */
	private static final int MAX_KEPT = 1 << 20;

	private byte[] bytes = new byte[128 << 10];

	private int length;

	byte[] bytes() {
		return this.bytes;
	}

	int length() {
		return this.length;
	}

	void clear() {
		this.length = 0;
		if (this.bytes.length > MAX_KEPT) {
			this.bytes = new byte[128 << 10];
		}
	}

	void writeNull() {
		append(NULL);
	}

	void writeLiteral(@Nullable String text) {
		append((text != null) ? text.getBytes(StandardCharsets.US_ASCII) : NULL);
	}

	void writeText(@Nullable String text) {
		if (text == null) {
			writeNull();
		}
		else {
			writeString(text.getBytes(StandardCharsets.UTF_8));
		}
	}

	/** A line break in JSON is a blank between values. */
	void writeJson(@Nullable String json) {
		if (json == null) {
			writeNull();
			return;
		}
		byte[] text = json.getBytes(StandardCharsets.UTF_8);
		for (int i = 0; i < text.length; i++) {
			text[i] = (text[i] == '\n' || text[i] == '\r') ? (byte) ' ' : text[i];
		}
		append(text);
	}

	void writeString(byte[] text) {
		append((byte) '"');
		int from = 0;
		for (int i = 0; i < text.length; i++) {
			byte next = text[i];
			if (next == '"' || next == '\\' || (next >= 0 && next < 0x20)) {
				append(text, from, i - from);
				from = i + 1;
				append((byte) '\\');
				if (next >= 0x20) {
					append(next);
				}
				else {
					append(new byte[] { 'u', '0', '0', HEX[next >> 4], HEX[next & 0xF] });
				}
			}
		}
		append(text, from, text.length - from);
		append((byte) '"');
	}

	void append(byte single) {
		ensure(1);
		this.bytes[this.length++] = single;
	}

	void append(byte[] more) {
		append(more, 0, more.length);
	}

	private void append(byte[] more, int offset, int count) {
		ensure(count);
		System.arraycopy(more, offset, this.bytes, this.length, count);
		this.length += count;
	}

	private void ensure(int more) {
		if (this.bytes.length - this.length < more) {
			this.bytes = Arrays.copyOf(this.bytes, Math.max(2 * this.bytes.length, this.length + more));
		}
	}

}
