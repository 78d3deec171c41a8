package io.pipeset.record.body;

/**
 * Files that callers sometimes send instead of records. Their first bytes identify them,
 * because no format begins with these bytes.
 */
enum UnsupportedFile {

	GZIP("found gzip's first bytes, 1F 8B, and not records: compress once, and say so with"
			+ " -H 'Content-Encoding: gzip'", 0x1F, 0x8B),

	ZSTD("found zstd's first bytes, 28 B5 2F FD, and not records: compress once, and say so with"
			+ " -H 'Content-Encoding: zstd'", 0x28, 0xB5, 0x2F, 0xFD),

	REDIS_RDB(Texts.RDB, 'R', 'E', 'D', 'I', 'S', Texts.DIGIT, Texts.DIGIT, Texts.DIGIT, Texts.DIGIT, Texts.OPCODE),

	VALKEY_RDB(Texts.RDB, 'V', 'A', 'L', 'K', 'E', 'Y', Texts.DIGIT, Texts.DIGIT, Texts.DIGIT, Texts.OPCODE),

	UTF_32_LE_MARK(Texts.UTF_32, 0xFF, 0xFE, 0, 0),

	UTF_32_BE_MARK(Texts.UTF_32, 0, 0, 0xFE, 0xFF),

	UTF_16_LE_MARK(Texts.UTF_16, 0xFF, 0xFE),

	UTF_16_BE_MARK(Texts.UTF_16, 0xFE, 0xFF),

	UTF_32_LE(Texts.UTF_32, Texts.LETTER, 0, 0, 0),

	UTF_32_BE(Texts.UTF_32, 0, 0, 0, Texts.LETTER),

	UTF_16_LE(Texts.UTF_16, Texts.LETTER, 0, Texts.LETTER, 0),

	UTF_16_BE(Texts.UTF_16, 0, Texts.LETTER, 0, Texts.LETTER);

	private final String message;

	private final int[] first;

	/**
	 * Describes a kind of file.
	 * @param message the kind of file and the advice; {@code %s} stands for its first
	 * bytes
	 * @param first the first bytes of the file
	 */
	UnsupportedFile(String message, int... first) {
		this.message = message;
		this.first = first;
	}

	/** The number of bytes that identify the file. */
	int length() {
		return this.first.length;
	}

	/** Whether a byte of the body may be the byte of such a file at this position. */
	boolean matches(int position, byte found) {
		int expected = this.first[position];
		return switch (expected) {
			case Texts.DIGIT -> found >= '0' && found <= '9';
			case Texts.LETTER -> found != 0;
			case Texts.OPCODE -> (found & 0xF0) == 0xF0;
			default -> (found & 0xFF) == expected;
		};
	}

	/** The message: the kind of the body, and what to send instead. */
	String message(String firstBytes) {
		return String.format(this.message, firstBytes);
	}

	/** Constants of the rows, which an enum cannot declare before its rows. */
	private static final class Texts {

		static final int DIGIT = -1;

		/** Any byte except NUL. */
		static final int LETTER = -2;

		/** A byte of 0xF0 or more, which ASCII does not have. */
		static final int OPCODE = -3;

		static final String RDB = "found an RDB file, or an append-only file that begins with one (%s), and not commands."
				+ " To have Redis write commands, set aof-use-rdb-preamble no and appendonly yes, and run BGREWRITEAOF;"
				+ " or turn the file into commands with a tool that reads RDB files";

		static final String UTF_16 = "found UTF-16, and not UTF-8: save the file as UTF-8, or name its charset where the"
				+ " format has charsets, as in text/csv; charset=utf-16";

		static final String UTF_32 = "found UTF-32, and not UTF-8: save the file as UTF-8";

	}

}
