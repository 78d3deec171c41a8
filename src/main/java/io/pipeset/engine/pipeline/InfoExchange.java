package io.pipeset.engine.pipeline;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/**
 * Reads sections of <a href="https://redis.io/docs/latest/commands/info/">INFO</a>, one
 * command for each, because Redis before 7.0 takes only one section a command. A section
 * that Redis refuses is left out.
 */
final class InfoExchange extends ValueExchange {

	/** The most bytes kept of all sections. The useful sections are far shorter. */
	private static final int MAX_BYTES = 64 << 10;

	private final List<String> sections;

	private final ByteArrayOutputStream text = new ByteArrayOutputStream();

	InfoExchange(List<String> sections) {
		super(sections.size());
		this.sections = sections;
	}

	/** The sections, one after the other, cut after 64 KiB. */
	String text() {
		return this.text.toString(StandardCharsets.UTF_8);
	}

	@Override
	public void writeTo(ByteBuf out) {
		for (String section : this.sections) {
			ByteBufUtil.writeAscii(out, "*2\r\n$4\r\nINFO\r\n$" + section.length() + "\r\n" + section + "\r\n");
		}
	}

	@Override
	void line(char marker, StringBuilder line) {
	}

	@Override
	void bulk(byte[] bytes, long length) {
		this.text.writeBytes(bytes);
	}

	@Override
	int maxBulk() {
		return MAX_BYTES - this.text.size();
	}

}
