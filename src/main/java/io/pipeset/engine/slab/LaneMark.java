package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.zip.CRC32C;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.Record;

/**
 * What a lane of a job with {@code exactlyOnce} writes in the transaction of each batch:
 * the index of its last record, and the digest of all its records so far. If Redis has
 * it, the batch ran. If not, the batch did not run.
 */
public final class LaneMark {

	/** The value before the first batch. */
	public static final String NONE = value(-1, 0);

	private final byte[] head;

	private final CRC32C bytes = new CRC32C();

	/** The commands, and the lengths of their arguments. */
	private int shape;

	/**
	 * Creates the mark of a lane that has sent nothing.
	 * @param key the hash with the marks of the job
	 * @param lane the number of the lane, which is the field of the hash
	 */
	public LaneMark(String key, int lane) {
		String field = Integer.toString(lane);
		this.head = ("*4\r\n$4\r\nHSET\r\n$" + key.length() + "\r\n" + key + "\r\n$" + field.length() + "\r\n" + field
				+ "\r\n$" + NONE.length() + "\r\n")
			.getBytes(StandardCharsets.ISO_8859_1);
	}

	/** Adds a record to the digest. Each record of the lane is added once, in order. */
	public void add(Record record) {
		int count = record.argumentCount();
		this.shape = 31 * this.shape + record.command().number();
		for (int i = 0; i < count; i++) {
			this.shape = 31 * this.shape + record.length(i);
			this.bytes.update(record.source(i), record.offset(i), record.length(i));
		}
	}

	/** The digest of all records so far. */
	public int digest() {
		return (int) this.bytes.getValue() ^ this.shape;
	}

	/**
	 * The value after a record, always of the same length.
	 * @param last the index of the record; -1 for none
	 * @param digest the digest up to that record
	 */
	public static String value(long last, int digest) {
		return HexFormat.of().toHexDigits(last + 1) + ':' + HexFormat.of().toHexDigits(digest);
	}

	/** The index of the last record in a value; -1 for none. */
	public static long last(String value) {
		return Long.parseLong(value.substring(0, value.indexOf(':')), 16) - 1;
	}

	int bytes() {
		return this.head.length + NONE.length() + 2;
	}

	void writeTo(ByteBuf out, String value) {
		out.writeBytes(this.head);
		out.writeCharSequence(value, StandardCharsets.US_ASCII);
		out.writeByte('\r');
		out.writeByte('\n');
	}

}
