package io.pipeset.record;

/**
 * What <a href="https://redis.io/docs/latest/commands/command-info/">COMMAND INFO</a>
 * says of a command's arguments.
 *
 * @param arity the number of words with the name; if negative, the least number
 * @param firstKey the position of the first key among the words, 1 or more
 * @param lastKey that of the last key; if negative, counted from the end
 * @param keyStep the distance from one key to the next, 1 or more
 */
public record Description(int arity, int firstKey, int lastKey, int keyStep) {

	/** Refuses positions that no key can have. */
	public Description {
		if (firstKey < 1 || keyStep < 1) {
			throw new IllegalArgumentException("A first key at " + firstKey + ", the next " + keyStep + " further");
		}
	}

}
