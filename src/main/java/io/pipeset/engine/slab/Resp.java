package io.pipeset.engine.slab;

/**
 * Reads and writes the
 * <a href="https://redis.io/docs/latest/develop/reference/protocol-spec/">Redis
 * serialization protocol</a> (RESP) in byte arrays.
 */
final class Resp {

	/** The most bytes of a header: a marker, the digits of an int and CRLF. */
	static final int MAX_HEADER = 13;

	private Resp() {
	}

	static int putBulk(byte[] out, int at, byte[] source, int offset, int length) {
		int next = putHeader(out, at, '$', length);
		System.arraycopy(source, offset, out, next, length);
		next += length;
		out[next] = '\r';
		out[next + 1] = '\n';
		return next + 2;
	}

	static int putHeader(byte[] out, int at, char marker, int number) {
		out[at] = (byte) marker;
		int end = putNumber(out, at + 1, number);
		out[end] = '\r';
		out[end + 1] = '\n';
		return end + 2;
	}

	/**
	 * Writes a number of 0 or more as a bulk string, which takes at most two headers'
	 * bytes.
	 */
	static int putNumberBulk(byte[] out, int at, int number) {
		int digits = headerBytes(number) - 3;
		int end = putNumber(out, putHeader(out, at, '$', digits), number);
		out[end] = '\r';
		out[end + 1] = '\n';
		return end + 2;
	}

	/**
	 * Writes digits. Numbers below 100 are handled first, because nearly all numbers are
	 * that small and division is slow.
	 */
	private static int putNumber(byte[] out, int at, int number) {
		if (number < 10) {
			out[at] = (byte) ('0' + number);
			return at + 1;
		}
		if (number < 100) {
			int tens = number / 10;
			out[at] = (byte) ('0' + tens);
			out[at + 1] = (byte) ('0' + number - 10 * tens);
			return at + 2;
		}
		int end = putNumber(out, at, number / 100);
		int rest = number % 100;
		out[end] = (byte) ('0' + rest / 10);
		out[end + 1] = (byte) ('0' + rest % 10);
		return end + 2;
	}

	/** The bytes of a header with a number of 0 or more. */
	static int headerBytes(int number) {
		int bytes = 4;
		for (int rest = number; rest >= 10; rest /= 10) {
			bytes++;
		}
		return bytes;
	}

	static int skipLine(byte[] resp, int at) {
		int end = at;
		while (resp[end] != '\n') {
			end++;
		}
		return end + 1;
	}

	static int skipBulk(byte[] resp, int at) {
		return skipLine(resp, at) + (int) number(resp, at + 1) + 2;
	}

	static long number(byte[] resp, int at) {
		boolean negative = resp[at] == '-';
		long number = 0;
		for (int i = (negative) ? at + 1 : at; resp[i] != '\r'; i++) {
			number = number * 10 + (resp[i] - '0');
		}
		return (negative) ? -number : number;
	}

}
