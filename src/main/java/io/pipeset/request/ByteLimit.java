package io.pipeset.request;

/**
 * A limit on the bytes of a body, with the property that sets it.
 *
 * @param property the name of the property
 * @param most the most bytes
 */
public record ByteLimit(String property, long most) {

	/** The smaller of two limits. */
	public ByteLimit and(ByteLimit other) {
		return (other.most < this.most) ? other : this;
	}

	/**
	 * The message about a body that exceeds the limit.
	 * @param body the name of the body
	 * @param size its size, as text
	 */
	public String exceededBy(String body, String size) {
		return "The " + body + " has " + size + " bytes; " + this.property + " allows " + this.most;
	}

}
