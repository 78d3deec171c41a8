package io.pipeset.run;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The keyed hash <a href="https://www.aumasson.jp/siphash/siphash.pdf">SipHash-2-4</a>. A
 * caller who does not know its key cannot make two inputs of the same hash.
 */
final class SipHash {

	private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

	private final long k0;

	private final long k1;

	private long v0;

	private long v1;

	private long v2;

	private long v3;

	SipHash(long k0, long k1) {
		this.k0 = k0;
		this.k1 = k1;
	}

	/** Hashes bytes. One thread at a time may call this. */
	long hash(byte[] source, int offset, int length) {
		this.v0 = this.k0 ^ 0x736f6d6570736575L;
		this.v1 = this.k1 ^ 0x646f72616e646f6dL;
		this.v2 = this.k0 ^ 0x6c7967656e657261L;
		this.v3 = this.k1 ^ 0x7465646279746573L;
		int tail = offset + (length & ~7);
		for (int at = offset; at < tail; at += Long.BYTES) {
			add((long) WORD.get(source, at));
		}
		long last = (long) length << 56;
		for (int i = 0; i < (length & 7); i++) {
			last |= (source[tail + i] & 0xFFL) << (Byte.SIZE * i);
		}
		add(last);
		this.v2 ^= 0xFF;
		for (int i = 0; i < 4; i++) {
			round();
		}
		return this.v0 ^ this.v1 ^ this.v2 ^ this.v3;
	}

	private void add(long word) {
		this.v3 ^= word;
		round();
		round();
		this.v0 ^= word;
	}

	private void round() {
		this.v0 += this.v1;
		this.v1 = Long.rotateLeft(this.v1, 13) ^ this.v0;
		this.v0 = Long.rotateLeft(this.v0, 32);
		this.v2 += this.v3;
		this.v3 = Long.rotateLeft(this.v3, 16) ^ this.v2;
		this.v0 += this.v3;
		this.v3 = Long.rotateLeft(this.v3, 21) ^ this.v0;
		this.v2 += this.v1;
		this.v1 = Long.rotateLeft(this.v1, 17) ^ this.v2;
		this.v2 = Long.rotateLeft(this.v2, 32);
	}

}
