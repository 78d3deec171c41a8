package io.pipeset.job.input;

/**
 * A limit on the bytes of a body, which can say who has set it.
 *
 * @param property the property that sets it
 * @param most the bytes that are allowed
 */
public record ByteLimit(String property, long most) {

	/** The narrower one of two limits. */
	public ByteLimit and(ByteLimit other) {
		return (other.most < this.most) ? other : this;
	}

	/**
	 * A message about a body beyond the limit.
	 * @param body the body, in words
	 * @param met its size, in words or digits
	 */
	public String exceededBy(String body, String met) {
		return "The " + body + " has " + met + " bytes; " + this.property + " allows " + this.most;
	}

}
