package io.pipeset.benchmark.data;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** The commands of a workload, each told by its number. */
public sealed interface Shape {

	/**
	 * A command.
	 * @param number from 0
	 * @return its name and arguments
	 */
	List<String> command(long number);

	/**
	 * The same as a record in JSON.
	 * @param number from 0
	 * @return the object
	 */
	String json(long number);

	private static String digits(long number, int least) {
		String digits = String.valueOf(number);
		return (digits.length() < least) ? "0".repeat(least - digits.length()) + digits : digits;
	}

	/** The commands that {@code POST /pipeset/{count}} generates. */
	record GeneratedSet() implements Shape {

		@Override
		public List<String> command(long number) {
			String digits = Shape.digits(number, 5);
			return List.of("SET", "keyA" + digits, "value-" + digits);
		}

		@Override
		public String json(long number) {
			List<String> command = command(number);
			return "{\"op\":\"SET\",\"key\":\"" + command.get(1) + "\",\"value\":\"" + command.get(2) + "\"}";
		}

	}

	/**
	 * SETs of 11-byte keys.
	 *
	 * @param valueBytes the size of their values, 13 or more
	 */
	record Set(int valueBytes) implements Shape {

		private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

		@Override
		public List<String> command(long number) {
			String digits = Shape.digits(number, 7);
			StringBuilder value = new StringBuilder(this.valueBytes).append("value-").append(digits);
			for (int i = value.length(); i < this.valueBytes; i++) {
				value.append(LETTERS.charAt((int) ((number + i * 7L) % LETTERS.length())));
			}
			return List.of("SET", "keyA" + digits, value.toString());
		}

		@Override
		public String json(long number) {
			List<String> command = command(number);
			return "{\"op\":\"SET\",\"key\":\"" + command.get(1) + "\",\"value\":\"" + command.get(2) + "\"}";
		}

	}

	/** HSETs of five fields. */
	record Hash() implements Shape {

		@Override
		public List<String> command(long number) {
			String digits = Shape.digits(number, 7);
			return List.of("HSET", "user" + digits, "id", digits, "name", "name-" + digits, "mail",
					digits + "@example.com", "city", "city-" + number % 100, "age", String.valueOf(number % 90));
		}

		@Override
		public String json(long number) {
			List<String> command = command(number);
			List<String> fields = new ArrayList<>();
			for (int i = 2; i < command.size(); i += 2) {
				fields.add("\"" + command.get(i) + "\":\"" + command.get(i + 1) + "\"");
			}
			return "{\"op\":\"HSET\",\"key\":\"" + command.get(1) + "\",\"fields\":{" + String.join(",", fields) + "}}";
		}

	}

	/**
	 * Commands that add an element of 13 bytes to one key.
	 *
	 * @param operation LPUSH or SADD
	 * @param key the list or set
	 */
	record Element(String operation, String key) implements Shape {

		@Override
		public List<String> command(long number) {
			return List.of(this.operation, this.key, "value-" + Shape.digits(number, 7));
		}

		@Override
		public String json(long number) {
			return "{\"op\":\"" + this.operation + "\",\"key\":\"" + this.key + "\",\"args\":[\""
					+ command(number).get(2) + "\"]}";
		}

	}

	/**
	 * RPOPs of one list.
	 *
	 * @param key the list
	 */
	record Pop(String key) implements Shape {

		@Override
		public List<String> command(long number) {
			return List.of("RPOP", this.key);
		}

		@Override
		public String json(long number) {
			return "{\"op\":\"RPOP\",\"key\":\"" + this.key + "\"}";
		}

	}

	/**
	 * Documents with an embedding, of which templates make HSETs.
	 *
	 * @param numbers how many numbers an embedding has
	 */
	record Document(int numbers) implements Shape {

		private static final int FIRST_NUMBERS = 50_000;

		private static final int NUMBER_CHARACTERS = 9;

		/** Numbers with a comma after each. */
		private static final String POOL = pool();

		private static String pool() {
			Random random = new Random(1);
			StringBuilder pool = new StringBuilder();
			for (int i = 0; i < 2 * FIRST_NUMBERS; i++) {
				double number = random.nextDouble();
				pool.append((i % 2 == 0) ? String.format(Locale.ROOT, "%.6f,", number)
						: String.format(Locale.ROOT, "-%.5f,", number));
			}
			return pool.toString();
		}

		@Override
		public List<String> command(long number) {
			return List.of("HSET", "doc:" + number, "title", "Document " + number, "embedding", embedding(number));
		}

		@Override
		public String json(long number) {
			return "{\"id\":" + number + ",\"title\":\"Document " + number + "\",\"embedding\":[" + embedding(number)
					+ "]}";
		}

		private String embedding(long number) {
			int first = (int) (number * 7919 % FIRST_NUMBERS) * NUMBER_CHARACTERS;
			return POOL.substring(first, first + this.numbers * NUMBER_CHARACTERS - 1);
		}

	}

}
