package io.pipeset.engine.slab.lookup;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a key scan: which keys, and how many a page.
 *
 * @param match the pattern of the keys; {@code null} for all
 * @param type the type of the keys; {@code null} for all
 * @param count the approximate number of keys in a page
 */
public record Scan(@Nullable String match, @Nullable String type, int count) {

	/** The cursor of the first page, and the cursor after the last. */
	public static final String START = "0";

	void writeTo(ByteBuf out, String cursor) {
		int words = 4 + ((this.match != null) ? 2 : 0) + ((this.type != null) ? 2 : 0);
		ByteBufUtil.writeAscii(out, "*" + words + "\r\n");
		word(out, "SCAN");
		word(out, cursor);
		if (this.match != null) {
			word(out, "MATCH");
			word(out, this.match);
		}
		word(out, "COUNT");
		word(out, String.valueOf(this.count));
		if (this.type != null) {
			word(out, "TYPE");
			word(out, this.type);
		}
	}

	private static void word(ByteBuf out, String word) {
		byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
		ByteBufUtil.writeAscii(out, "$" + bytes.length + "\r\n");
		out.writeBytes(bytes);
		ByteBufUtil.writeAscii(out, "\r\n");
	}

}
