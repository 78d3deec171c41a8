package io.pipeset.record;

/** A record's time to live, as digits; no digits for none. */
final class Ttl {

	private static final byte[] EX = { 'E', 'X' };

	private byte[] source = {};

	private int offset;

	private int length;

	/** Sets the time to live, to none by no digits. */
	void set(byte[] source, int offset, int length) {
		this.source = source;
		this.offset = offset;
		this.length = length;
	}

	/** Lets a SET expire whose own options say nothing of it. */
	void expireByOption(Record record) {
		if (this.length > 0) {
			record.argument(EX, 0, EX.length);
			record.argument(this.source, this.offset, this.length);
		}
	}

	/** Lets a hash expire: by a script, as HSET has no option for it. */
	void expireByScript(Record record) {
		if (this.length > 0) {
			record.byScript(Script.HSET_WITH_TTL);
			record.arguments().insert(3, this.source, this.offset, this.length);
		}
	}

}
