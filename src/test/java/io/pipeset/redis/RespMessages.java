package io.pipeset.redis;

/**
 * Finds the ends of messages in one direction of a connection: of commands, or of replies
 * in RESP 2 or 3. The elements of aggregates are counted down, so that the depth of
 * nesting need not be known.
 */
final class RespMessages {

	/** The values that the message still lacks. */
	private long pending = 1;

	/** The bytes that a bulk string still lacks, its line end included. */
	private long bulk;

	private int type = -1;

	private long number;

	private boolean negative;

	/**
	 * Takes the next byte.
	 * @return whether a message ends with it
	 */
	boolean endsWith(byte next) {
		if (this.bulk > 0) {
			return --this.bulk == 0 && valueEnds(0);
		}
		if (this.type < 0) {
			this.type = next;
			this.number = 0;
			this.negative = false;
		}
		else if (next == '\n') {
			return lineEnds();
		}
		else if (next == '-') {
			this.negative = true;
		}
		else if (next >= '0' && next <= '9') {
			this.number = this.number * 10 + next - '0';
		}
		return false;
	}

	private boolean lineEnds() {
		int type = this.type;
		this.type = -1;
		long length = (this.negative) ? 0 : this.number;
		switch (type) {
			case '$', '=', '!' -> {
				if (!this.negative) {
					this.bulk = length + 2;
					return false;
				}
				return valueEnds(0);
			}
			case '*', '~', '>' -> {
				return valueEnds(length);
			}
			case '%' -> {
				return valueEnds(2 * length);
			}
			default -> {
				return valueEnds(0);
			}
		}
	}

	private boolean valueEnds(long more) {
		this.pending += more - 1;
		if (this.pending == 0) {
			this.pending = 1;
			return true;
		}
		return false;
	}

}
