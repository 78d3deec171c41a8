package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.Script;
import org.jspecify.annotations.Nullable;

/**
 * The scripts that a slab's commands run. Every write loads them before the commands, so
 * no command fails because Redis has forgotten its script.
 */
final class SlabScripts {

	private final List<Script> scripts = new ArrayList<>(0);

	private int bytes;

	void clear() {
		this.scripts.clear();
		this.bytes = 0;
	}

	/**
	 * The size of all SCRIPT LOAD commands if this script were loaded too, in bytes of
	 * RESP.
	 */
	int bytesWith(@Nullable Script script) {
		return (script == null || this.scripts.contains(script)) ? this.bytes : this.bytes + script.loading().length;
	}

	void add(@Nullable Script script) {
		this.bytes = bytesWith(script);
		if (script != null && !this.scripts.contains(script)) {
			this.scripts.add(script);
		}
	}

	/**
	 * Whether the slab loads a script. Its SHA1 is a bulk string in upper or lower case.
	 */
	boolean loads(byte[] resp, int at) {
		int from = Resp.skipLine(resp, at);
		String sha = new String(resp, from, (int) Resp.number(resp, at + 1), StandardCharsets.US_ASCII);
		return this.scripts.stream().anyMatch((script) -> script.sha().equalsIgnoreCase(sha));
	}

	int bytes() {
		return this.bytes;
	}

	/** How many scripts are loaded. Redis answers each SCRIPT LOAD. */
	int count() {
		return this.scripts.size();
	}

	void writeTo(ByteBuf out) {
		for (Script script : this.scripts) {
			out.writeBytes(script.loading());
		}
	}

}
