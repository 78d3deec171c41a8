package io.pipeset.engine.slab.lookup;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Set;

import io.netty.buffer.ByteBuf;
import io.pipeset.engine.slab.RedisErrors;
import org.jspecify.annotations.Nullable;

/** The commands that ask for the number of elements of each key of a page. */
public final class LengthLookup extends Lookup {

	private static final byte[] END = KeyWriter.tail();

	/** The code of a key that is not there as it was. */
	private static final String GONE = "WRONGTYPE";

	/** The codes of keys whose slot has moved, or is on its way. */
	private static final Set<String> MOVED = Set.of("MOVED", "ASK");

	private final KeyTypes types;

	private final KeyPage page;

	private final long[] lengths;

	private final int replies;

	private final BitSet moved = new BitSet();

	private int key;

	private @Nullable String error;

	/** Asks for the length of each key whose type has one. */
	public LengthLookup(KeyTypes types, KeyPage page) {
		this.types = types;
		this.page = page;
		this.lengths = new long[page.count()];
		Arrays.fill(this.lengths, KeyPage.UNKNOWN);
		int known = 0;
		for (int i = 0; i < page.count(); i++) {
			known += (command(i) != null) ? 1 : 0;
		}
		this.replies = known;
		this.key = next(0);
	}

	/** Whether there is nothing to ask for. */
	public boolean isEmpty() {
		return this.replies == 0;
	}

	/**
	 * The number of elements of a key.
	 * @param key its number on the page
	 * @return {@link KeyPage#UNKNOWN} where its type has none, or Redis did not tell
	 */
	public long length(int key) {
		return this.lengths[key];
	}

	/**
	 * Whether a key is to be asked for at another server.
	 * @param key its number on the page
	 * @return {@code true} where its slot has moved, or is on its way
	 */
	public boolean hasMoved(int key) {
		return this.moved.get(key);
	}

	/**
	 * The last error that Redis answered, but for keys that have become another type, or
	 * whose slot has moved.
	 * @return {@code null} if there was none
	 */
	public @Nullable String error() {
		return this.error;
	}

	private @Nullable String command(int key) {
		return switch (this.types.name(this.page.type(key))) {
			case "string" -> "STRLEN";
			case "list" -> "LLEN";
			case "set" -> "SCARD";
			case "zset" -> "ZCARD";
			case "hash" -> "HLEN";
			case "stream" -> "XLEN";
			default -> null;
		};
	}

	private int next(int from) {
		int next = from;
		while (next < this.lengths.length && command(next) == null) {
			next++;
		}
		return next;
	}

	@Override
	public void writeTo(ByteBuf out) {
		KeyWriter writer = new KeyWriter(out, this.page);
		for (int i = 0; i < this.lengths.length; i++) {
			String command = command(i);
			if (command != null) {
				writer.key(i);
				writer.write(KeyWriter.head(2, command), END);
			}
		}
	}

	@Override
	int replies() {
		return this.replies;
	}

	@Override
	void number(long number) {
		this.lengths[this.key] = number;
		this.key = next(this.key + 1);
	}

	@Override
	void error(String message) {
		String code = RedisErrors.code(message);
		if (MOVED.contains(code)) {
			this.moved.set(this.key);
		}
		else if (!GONE.equals(code)) {
			this.error = message;
		}
		this.key = next(this.key + 1);
	}

}
