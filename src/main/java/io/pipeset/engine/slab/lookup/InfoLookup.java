package io.pipeset.engine.slab.lookup;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import org.jspecify.annotations.Nullable;

/**
 * Reads sections of <a href="https://redis.io/docs/latest/commands/info/">INFO</a>, one
 * command for each, because Redis before 7.0 takes only one section a command.
 */
public final class InfoLookup extends Lookup {

	/** The most bytes kept of all sections. The useful sections are far shorter. */
	private static final int MAX_BYTES = 64 << 10;

	private final List<String> sections;

	private final ByteArrayOutputStream text = new ByteArrayOutputStream();

	private @Nullable String error;

	public InfoLookup(List<String> sections) {
		this.sections = sections;
	}

	/**
	 * The sections, one after the other.
	 * @return the text, cut after 64 KiB
	 */
	public String text() {
		return this.text.toString(StandardCharsets.UTF_8);
	}

	/**
	 * The error that Redis answered.
	 * @return the last error, or {@code null} if there was none
	 */
	public @Nullable String error() {
		return this.error;
	}

	@Override
	public void writeTo(ByteBuf out) {
		for (String section : this.sections) {
			ByteBufUtil.writeAscii(out, "*2\r\n$4\r\nINFO\r\n$" + section.length() + "\r\n" + section + "\r\n");
		}
	}

	@Override
	int replies() {
		return this.sections.size();
	}

	@Override
	void bulk(ByteBuf in, int length) {
		byte[] bytes = new byte[length];
		in.readBytes(bytes);
		this.text.write(bytes, 0, Math.min(length, MAX_BYTES - this.text.size()));
	}

	@Override
	void endBulk() {
		// Each section ends with a line end, so no separator is needed.
	}

	@Override
	void error(String message) {
		this.error = message;
	}

}
