package io.pipeset.record;

/**
 * Reads a record's arguments where Redis takes them for more than bytes: options in any
 * case, and numbers, as strictly as Redis reads them.
 */
final class Words {

	private static final int MOST_DIGITS = 19;

	private Words() {
	}

	/** Whether an argument is a word, which is given in upper case. */
	static boolean is(Record record, int argument, String word) {
		int length = word.length();
		if (record.length(argument) != length) {
			return false;
		}
		byte[] source = record.source(argument);
		int offset = record.offset(argument);
		for (int i = 0; i < length; i++) {
			int letter = source[offset + i];
			int upper = (letter >= 'a' && letter <= 'z') ? letter - ('a' - 'A') : letter;
			if (upper != word.charAt(i)) {
				return false;
			}
		}
		return true;
	}

	/** Whether an argument is a whole number of 64 bits, with its sign if negative. */
	static boolean isInteger(Record record, int argument) {
		return record.number(argument) >= 0 || negative(record, argument) < 0;
	}

	/**
	 * Whether an argument is a whole number, with its sign if negative, that is no
	 * further from 0 than a bound.
	 */
	static boolean isWithin(Record record, int argument, long most) {
		long number = record.number(argument);
		if (number >= 0) {
			return number <= most;
		}
		long negative = negative(record, argument);
		return negative < 0 && negative >= -most;
	}

	/** Bytes as a whole number of 0 or more, or -1 where they are none. */
	static long number(byte[] source, int from, int length) {
		if (length == 0 || length > MOST_DIGITS || (source[from] == '0' && length > 1)) {
			return -1;
		}
		long number = 0;
		for (int i = from; i < from + length; i++) {
			int digit = source[i] - '0';
			if (digit < 0 || digit > 9) {
				return -1;
			}
			number = number * 10 + digit;
		}
		return (number < 0) ? -1 : number;
	}

	/** An argument as a whole number below 0, or 0 where it is none. */
	private static long negative(Record record, int argument) {
		byte[] source = record.source(argument);
		int sign = record.offset(argument);
		int digits = record.length(argument) - 1;
		if (digits < 1 || digits > MOST_DIGITS || source[sign] != '-' || source[sign + 1] == '0') {
			return 0;
		}
		long number = 0;
		for (int i = sign + 1; i <= sign + digits; i++) {
			if (source[i] < '0' || source[i] > '9') {
				return 0;
			}
			number = number * 10 - (source[i] - '0');
		}
		return Math.min(number, 0);
	}

	static boolean isHexadecimal(Record record, int argument) {
		byte[] source = record.source(argument);
		int from = record.offset(argument);
		for (int i = from; i < from + record.length(argument); i++) {
			if (Character.digit(source[i], 16) < 0) {
				return false;
			}
		}
		return true;
	}

}
