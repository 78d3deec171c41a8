package io.pipeset.web.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A record of any kind, whose effect and reply depend on the records of its keys before
 * it, and on nothing else.
 *
 * @param words the command that Redis runs alike
 * @param keys how many keys it has
 * @param ttl the time to live of its first key, in seconds; 0 for none
 */
record MixedRecord(List<String> words, int keys, int ttl) {

	/** A script writes once, at the end, so that nothing can stop it half way. */
	static final List<String> SCRIPTS = List.of("return redis.call('RPUSH', KEYS[1], ARGV[1])",
			"local length = redis.call('RPUSH', KEYS[2], ARGV[1]) "
					+ "return {length, redis.call('EXISTS', KEYS[1]), 'moved on'}",
			"return redis.error_reply('WRONG ' .. redis.call('INCRBY', KEYS[1], 3))", "return ARGV[1]");

	/** An operation that is listed more often is drawn more often. */
	private static final List<String> OPERATIONS = List.of("SET", "SET", "SET", "HSET", "HSET", "HDEL", "RPOP", "RPOP",
			"LPOP", "LPUSH", "RPUSH", "RPUSH", "DEL", "DEL", "UNLINK", "EXPIRE", "PERSIST", "SADD", "SREM", "ZADD",
			"ZREM", "XADD", "INCRBY", "HINCRBY", "PFADD", "GEOADD", "SETBIT", "EVALSHA");

	/** Draws records, in bursts of the same operation, most of them on one key. */
	static List<MixedRecord> draw(Random random, int count, List<List<String>> keys, List<String> scripts) {
		List<MixedRecord> records = new ArrayList<>();
		String operation = "";
		List<String> slot = List.of();
		String key = "";
		boolean plain = true;
		boolean moves = false;
		for (int i = 0; i < count; i++) {
			if (i == 0 || random.nextInt(4) == 0) {
				operation = OPERATIONS.get(random.nextInt(OPERATIONS.size()));
				slot = keys.get(random.nextInt(keys.size()));
				key = slot.get(random.nextInt(slot.size()));
				plain = random.nextInt(3) > 0;
				moves = random.nextInt(3) == 0;
			}
			if (moves) {
				key = slot.get(random.nextInt(slot.size()));
			}
			String other = slot.get(random.nextInt(slot.size()));
			records.add(draw(random, operation, i, plain, key, other, scripts));
		}
		return records;
	}

	private static MixedRecord draw(Random random, String operation, int index, boolean plain, String key, String other,
			List<String> scripts) {
		String value = "v" + index;
		String member = "m" + random.nextInt(9);
		String number = Integer.toString(random.nextInt(2000) - 1000);
		return switch (operation) {
			case "SET" -> (plain) ? of("SET", key, value) : switch (random.nextInt(4)) {
				case 0 -> of("SET", key, value, "NX");
				case 1 -> of("SET", key, number, "XX");
				case 2 -> of("SET", key, number, "KEEPTTL");
				default -> of("SET", key, value, "EX", "9000");
			};
			case "HSET" -> (plain) ? of("HSET", key, member, value)
					: new MixedRecord(List.of("HSET", key, member, value, "n", number), 1, 9000);
			case "HDEL", "SREM", "ZREM" -> (plain) ? of(operation, key, member) : of(operation, key, member, "m0", "n");
			case "RPOP", "LPOP" -> (plain) ? of(operation, key)
					: of(operation, key, Integer.toString(1 + random.nextInt((random.nextInt(4) == 0) ? 60 : 4)));
			case "LPUSH", "RPUSH" -> (plain) ? of(operation, key, value) : of(operation, key, value, member);
			case "DEL", "UNLINK" -> (plain || key.equals(other)) ? of(operation, key)
					: new MixedRecord(List.of(operation, key, other), 2, 0);
			case "EXPIRE" -> of("EXPIRE", key, "9000");
			case "PERSIST" -> of("PERSIST", key);
			case "ZADD" -> (plain) ? of("ZADD", key, number, member) : of("ZADD", key, "NX", number, member);
			case "XADD" -> of("XADD", key, (1 + index) + "-1", "f", value);
			case "INCRBY" -> of("INCRBY", key, number);
			case "HINCRBY" -> of("HINCRBY", key, "n", number);
			case "GEOADD" -> of("GEOADD", key, "13.36" + random.nextInt(10), "38.11", member);
			// A HyperLogLog is a string, too, and is none any more with another bit.
			case "SETBIT" -> of("SETBIT", key + ":bits", Integer.toString(random.nextInt(200)), "1");
			case "EVALSHA" -> evalsha(random, (plain) ? 0 : random.nextInt(20), key, other, value, scripts);
			default -> (plain) ? of(operation, key, value) : of(operation, key, value, member);
		};
	}

	private static MixedRecord evalsha(Random random, int draw, String key, String other, String value,
			List<String> scripts) {
		if (draw == 1) {
			return new MixedRecord(List.of("EVALSHA", scripts.get(3), "0", value), 0, 0);
		}
		if (draw < 8) {
			return new MixedRecord(List.of("EVALSHA", scripts.get((random.nextBoolean()) ? 0 : 2), "1", key, value), 1,
					0);
		}
		return new MixedRecord(List.of("EVALSHA", scripts.get(1), "2", key, other, value), 2, 0);
	}

	private static MixedRecord of(String... words) {
		return new MixedRecord(Arrays.asList(words), 1, 0);
	}

	String operation() {
		return this.words.get(0);
	}

	/** Its keys. */
	List<String> names() {
		int first = (operation().equals("EVALSHA")) ? 3 : 1;
		return this.words.subList(first, first + this.keys);
	}

	boolean isPop() {
		return operation().endsWith("POP");
	}

	boolean isRemoval() {
		return operation().equals("DEL") || operation().equals("UNLINK");
	}

	/** Whether a reply says that the record did nothing. */
	boolean isNoop(Object reply) {
		return !operation().equals("EVALSHA") && (reply == null || (operation().equals("EXPIRE") && reply.equals(0L)));
	}

	String toJson() {
		if (this.ttl > 0) {
			return IntStream.iterate(2, (i) -> i < this.words.size(), (i) -> i + 2)
				.mapToObj((i) -> "\"%s\":\"%s\"".formatted(this.words.get(i), this.words.get(i + 1)))
				.collect(Collectors.joining(",", "{\"op\":\"HSET\",\"key\":\"%s\",\"ttl\":%d,\"fields\":{"
					.formatted(this.words.get(1), this.ttl), "}}"));
		}
		return this.words.stream().collect(Collectors.joining("\",\"", "[\"", "\"]"));
	}

	@Override
	public String toString() {
		return String.join(" ", this.words);
	}

}
