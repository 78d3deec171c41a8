package io.pipeset.engine.slab.lookup;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;

/** Writes commands that take a key of a page. */
final class KeyWriter {

	private static final int MAX_DIGITS = 10;

	private final ByteBuf out;

	private final KeyPage page;

	/** The length of the current key in digits, and CRLF, at the end of the array. */
	private final byte[] length = new byte[MAX_DIGITS + 2];

	private int lengthFrom;

	private int from;

	private int bytes;

	KeyWriter(ByteBuf out, KeyPage page) {
		this.out = out;
		this.page = page;
		this.length[MAX_DIGITS] = '\r';
		this.length[MAX_DIGITS + 1] = '\n';
	}

	void key(int key) {
		this.from = this.page.start(key);
		this.bytes = this.page.end(key) - this.from;
		int at = MAX_DIGITS;
		int rest = this.bytes;
		do {
			this.length[--at] = (byte) ('0' + rest % 10);
			rest /= 10;
		}
		while (rest > 0);
		this.lengthFrom = at;
	}

	/**
	 * Writes a command with the current key.
	 * @param head the command up to the key's length
	 * @param tail the command after the key, beginning with its CRLF
	 */
	void write(byte[] head, byte[] tail) {
		this.out.writeBytes(head);
		this.out.writeBytes(this.length, this.lengthFrom, this.length.length - this.lengthFrom);
		this.out.writeBytes(this.page.bytes(), this.from, this.bytes);
		this.out.writeBytes(tail);
	}

	/** The bytes of a command up to the length of its key. */
	static byte[] head(int words, String... command) {
		StringBuilder head = new StringBuilder("*" + words + "\r\n");
		for (String word : command) {
			head.append(bulk(word));
		}
		return bytes(head.append('$').toString());
	}

	static byte[] tail(String... words) {
		StringBuilder tail = new StringBuilder("\r\n");
		for (String word : words) {
			tail.append(bulk(word));
		}
		return bytes(tail.toString());
	}

	private static String bulk(String word) {
		return "$" + word.length() + "\r\n" + word + "\r\n";
	}

	private static byte[] bytes(String ascii) {
		return ascii.getBytes(StandardCharsets.US_ASCII);
	}

}
