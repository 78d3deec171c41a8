package io.pipeset.service;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.LongFunction;

import org.jspecify.annotations.Nullable;

/** A body of many lines that is never whole in memory. */
public final class Lines extends InputStream {

	private static final int PIECE = 64 << 10;

	private long count;

	private final LongFunction<? extends @Nullable String> line;

	private long next;

	private byte[] piece = {};

	private int at;

	private Lines(long count, LongFunction<? extends @Nullable String> line) {
		this.count = count;
		this.line = line;
	}

	public static InputStream of(long count, LongFunction<String> line) {
		return new Lines(count, line);
	}

	/** Lines until there is none. */
	public static InputStream until(LongFunction<@Nullable String> line) {
		return new Lines(Long.MAX_VALUE, line);
	}

	@Override
	public int read() {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public int read(byte[] target, int offset, int length) {
		if (this.at == this.piece.length && !makePiece()) {
			return -1;
		}
		int bytes = Math.min(length, this.piece.length - this.at);
		System.arraycopy(this.piece, this.at, target, offset, bytes);
		this.at += bytes;
		return bytes;
	}

	private boolean makePiece() {
		StringBuilder lines = new StringBuilder();
		while (lines.length() < PIECE && this.next < this.count) {
			String line = this.line.apply(this.next++);
			if (line == null) {
				this.count = this.next;
				break;
			}
			lines.append(line).append('\n');
		}
		this.piece = lines.toString().getBytes(StandardCharsets.UTF_8);
		this.at = 0;
		return this.piece.length > 0;
	}

}
