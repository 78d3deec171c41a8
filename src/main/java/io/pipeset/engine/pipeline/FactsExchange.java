package io.pipeset.engine.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/** Reads the type, the time to live and the memory of some keys of a page. */
final class FactsExchange extends ValueExchange {

	private static final List<String> COMMANDS = List.of("TYPE", "PTTL", KeyPage.MEMORY_USAGE);

	private static final byte[] TYPE = ascii("*2\r\n$4\r\nTYPE\r\n");

	private static final byte[] PTTL = ascii("*2\r\n$4\r\nPTTL\r\n");

	private static final int DEFAULT_SAMPLES = 5;

	private static final long GONE = -2;

	private final KeyPage page;

	private final List<byte[]> names;

	private final int questions;

	private final byte[] memory;

	private final byte[] samples;

	private int answers;

	private String type = "";

	private long ttl;

	/**
	 * Creates the commands.
	 * @param page receives the facts
	 * @param names the keys, in the order of the page
	 * @param samples how many elements of a key MEMORY USAGE samples; 0 to omit it
	 */
	FactsExchange(KeyPage page, List<byte[]> names, int samples) {
		super(names.size() * ((samples > 0) ? 3 : 2));
		this.page = page;
		this.names = names;
		this.questions = (samples > 0) ? 3 : 2;
		boolean sampled = samples != DEFAULT_SAMPLES;
		String text = String.valueOf(samples);
		this.memory = ascii(((sampled) ? "*5" : "*3") + "\r\n$6\r\nMEMORY\r\n$5\r\nUSAGE\r\n");
		this.samples = ascii((sampled) ? "$7\r\nSAMPLES\r\n$" + text.length() + "\r\n" + text + "\r\n" : "");
	}

	private static byte[] ascii(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

	@Override
	public void writeTo(ByteBuf out) {
		for (byte[] name : this.names) {
			byte[] length = ascii("$" + name.length + "\r\n");
			write(out, TYPE, length, name);
			write(out, PTTL, length, name);
			if (this.questions == COMMANDS.size()) {
				write(out, this.memory, length, name);
				out.writeBytes(this.samples);
			}
		}
	}

	private static void write(ByteBuf out, byte[] command, byte[] length, byte[] name) {
		out.writeBytes(command).writeBytes(length).writeBytes(name);
		ByteBufUtil.writeShortBE(out, '\r' << 8 | '\n');
	}

	@Override
	void line(char marker, StringBuilder line) {
		int question = this.answers % this.questions;
		long number = GONE;
		if (marker == '-') {
			this.page.refuse(COMMANDS.get(question), line.substring(1));
			number = 0;
		}
		else if (marker == ':' && question > 0) {
			number = number(line);
		}
		else if (marker != ((question > 0) ? '_' : '+')) {
			throw unexpected(line);
		}
		if (question == 0) {
			this.type = line.substring(1);
		}
		else if (question == 1) {
			this.ttl = number;
		}
		if (question == this.questions - 1) {
			boolean vanished = this.type.equals("none") || this.ttl == GONE || number == GONE;
			this.page.add((vanished) ? null : new KeyFacts(this.names.get(this.answers / this.questions), this.type,
					(question > 1) ? number : 0, this.ttl));
		}
		this.answers++;
	}

	@Override
	void bulk(byte[] bytes, long length) {
		throw unexpected("a string");
	}

	@Override
	void array() {
		throw unexpected("an array");
	}

	@Override
	int maxBulk() {
		return 0;
	}

}
