package io.pipeset.slab;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.Script;
import org.jspecify.annotations.Nullable;

/**
 * What goes ahead of a slab's commands: the scripts that they run are loaded anew in
 * every write, so that none is missed, and no command has to be sent again, where Redis
 * has forgotten them.
 */
final class Preamble {

	private final List<Script> scripts = new ArrayList<>(0);

	private int bytes;

	void clear() {
		this.scripts.clear();
		this.bytes = 0;
	}

	/** Its size once a script is part of it. */
	int bytesWith(@Nullable Script script) {
		return (script == null || this.scripts.contains(script)) ? this.bytes : this.bytes + script.loading().length;
	}

	void add(@Nullable Script script) {
		this.bytes = bytesWith(script);
		if (script != null && !this.scripts.contains(script)) {
			this.scripts.add(script);
		}
	}

	/** Whether it loads a script, by its SHA1, a bulk string in whatever case. */
	boolean loads(byte[] resp, int at) {
		int from = Resp.skipLine(resp, at);
		String sha = new String(resp, from, (int) Resp.number(resp, at + 1), StandardCharsets.US_ASCII);
		return this.scripts.stream().anyMatch((script) -> script.sha().equalsIgnoreCase(sha));
	}

	/** Its size in bytes of RESP. */
	int bytes() {
		return this.bytes;
	}

	/** Its commands, each of which is answered. */
	int commands() {
		return this.scripts.size();
	}

	void writeTo(ByteBuf out) {
		for (Script script : this.scripts) {
			out.writeBytes(script.loading());
		}
	}

}
