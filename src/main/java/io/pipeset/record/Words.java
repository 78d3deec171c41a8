package io.pipeset.record;

/**
 * Reads a record's arguments where Redis takes them for more than bytes: options in any
 * case, and numbers, as strictly as Redis reads them.
 */
final class Words {

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
		int length = record.length(argument);
		boolean negative = length > 1 && record.source(argument)[record.offset(argument)] == '-';
		return (negative) ? isNegative(record, argument) : record.number(argument) >= 0;
	}

	private static boolean isNegative(Record record, int argument) {
		byte[] source = record.source(argument);
		int from = record.offset(argument) + 1;
		int digits = record.length(argument) - 1;
		if (digits > 19 || source[from] == '0') {
			return false;
		}
		long number = 0;
		for (int i = from; i < from + digits; i++) {
			if (source[i] < '0' || source[i] > '9') {
				return false;
			}
			number = number * 10 - (source[i] - '0');
		}
		return number < 0;
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
