package io.pipeset.record;

/** A record's time to live: where its digits stand, or none. */
final class Ttl {

	private byte[] source = {};

	private int offset;

	private int length;

	/** Sets it, to none by no digits. */
	void set(byte[] source, int offset, int length) {
		this.source = source;
		this.offset = offset;
		this.length = length;
	}

	boolean isGiven() {
		return this.length > 0;
	}

	void insertInto(Arguments arguments, int position) {
		arguments.insert(position, this.source, this.offset, this.length);
	}

}
