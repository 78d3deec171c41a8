package io.pipeset.web.verify;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.pipeset.report.Verified;

/**
 * What a verification must say of records, by a model that reads one key after the other
 * and knows nothing of the service.
 */
final class VerifyOracle {

	private static final int KEYS = 12;

	private final Random random;

	private final RedisClusterCommands<String, String> redis;

	/** The part of a key in braces that all keys of a group have. */
	private final List<String> tags;

	VerifyOracle(long seed, RedisClusterCommands<String, String> redis, List<String> tags) {
		this.random = new Random(seed);
		this.redis = redis;
		this.tags = tags;
	}

	/** Makes a record: its words. */
	List<String> record() {
		String tag = "{" + this.tags.get(this.random.nextInt(this.tags.size())) + "}";
		int kind = this.random.nextInt(16);
		String v = "v" + this.random.nextInt(4);
		String f = "f" + this.random.nextInt(4);
		String g = "f" + this.random.nextInt(4);
		int score = this.random.nextInt(3);
		String string = tag + "s" + this.random.nextInt(KEYS);
		String hash = tag + "h" + this.random.nextInt(KEYS);
		String set = tag + "t" + this.random.nextInt(KEYS);
		String sorted = tag + "z" + this.random.nextInt(KEYS);
		List<String> any = List.of(string, hash, set, sorted);
		return switch (kind) {
			case 0, 1 -> List.of("SET", string, v);
			case 2 -> List.of("MSET", string, v, tag + "s" + this.random.nextInt(KEYS), "w" + v);
			case 3 -> List.of("HSET", hash, f, v);
			case 4 -> List.of("HSET", hash, f, v, g, "w" + v);
			case 5 -> List.of("SADD", set, f, g);
			case 6 -> List.of("ZADD", sorted, score + ".50", f, "1e" + score, g);
			case 7 -> List.of("DEL", any.get(this.random.nextInt(4)));
			case 8 -> List.of("UNLINK", string, hash, set);
			case 9 -> List.of("HDEL", hash, f, g);
			case 10 -> List.of("SREM", set, f);
			case 11 -> List.of("ZREM", sorted, f);
			case 12 -> List.of("APPEND", string, "x");
			case 13 -> List.of("HINCRBYFLOAT", hash, "n" + f, "1");
			case 14 -> List.of("ZADD", sorted, "GT", "7", f);
			default -> List.of("SETNX", string, v);
		};
	}

	/** Changes the data of some keys. */
	void damage() {
		for (String tag : this.tags) {
			for (int i = 0; i < KEYS; i++) {
				String n = "{" + tag + "}";
				switch (this.random.nextInt(8)) {
					case 0 -> this.redis.set(n + "s" + i, "damaged");
					case 1 -> this.redis.del(n + "s" + i);
					case 2 -> this.redis.hset(n + "h" + i, "f1", "damaged");
					case 3 -> this.redis.del(n + "h" + i);
					case 4 -> this.redis.set(n + "t" + i, "another type");
					case 5 -> this.redis.srem(n + "t" + i, "f0", "f1");
					case 6 -> this.redis.zadd(n + "z" + i, 99, "f2");
					default -> this.redis.del(n + "z" + i);
				}
			}
		}
	}

	/** The verdict of each record, from what Redis has now. */
	List<String> verdicts(List<List<String>> records) {
		Map<String, Map<String, Integer>> writes = new HashMap<>();
		List<String> verdicts = new ArrayList<>();
		for (int i = records.size() - 1; i >= 0; i--) {
			verdicts.add(0, verdict(records.get(i), writes));
			note(records.get(i), writes);
		}
		return verdicts;
	}

	static Verified count(List<String> verdicts) {
		return new Verified(count(verdicts, "same"), count(verdicts, "different"), count(verdicts, "missing"),
				count(verdicts, "superseded"), count(verdicts, "incomparable"));
	}

	private static long count(List<String> verdicts, String verdict) {
		return verdicts.stream().filter(verdict::equals).count();
	}

	private String verdict(List<String> words, Map<String, Map<String, Integer>> later) {
		List<String[]> parts = parts(words);
		if (parts.isEmpty()) {
			return "incomparable";
		}
		boolean differs = false;
		boolean open = false;
		boolean exists = false;
		for (String[] part : parts) {
			boolean differing = !String.valueOf(part[2]).equals(String.valueOf(value(words.get(0), part)));
			differs |= differing;
			Map<String, Integer> ofKey = later.getOrDefault(part[0], Map.of());
			open |= differing && !ofKey.containsKey("*")
					&& !(ofKey.containsKey(part[1]) || (part[1].isEmpty() && ofKey.containsKey("+")));
			exists |= this.redis.exists(part[0]) > 0;
		}
		return (!differs) ? "same" : (!open) ? "superseded" : (exists) ? "different" : "missing";
	}

	/** The key, the field or member, and the value of what a record should leave. */
	private static List<String[]> parts(List<String> words) {
		List<String[]> parts = new ArrayList<>();
		String key = words.get(1);
		switch (words.get(0)) {
			case "SET", "MSET" -> {
				for (int i = 1; i < words.size(); i += 2) {
					parts.removeIf(repeated(words.get(i), ""));
					parts.add(new String[] { words.get(i), "", words.get(i + 1) });
				}
			}
			case "HSET" -> {
				for (int i = 2; i < words.size(); i += 2) {
					parts.removeIf(repeated(key, words.get(i)));
					parts.add(new String[] { key, words.get(i), words.get(i + 1) });
				}
			}
			case "ZADD" -> {
				for (int i = 3; !words.get(2).equals("GT") && i < words.size(); i += 2) {
					parts.removeIf(repeated(key, words.get(i)));
					parts.add(new String[] { key, words.get(i), String.valueOf(Double.parseDouble(words.get(i - 1))) });
				}
			}
			case "SADD" -> words.subList(2, words.size()).forEach((m) -> parts.add(new String[] { key, m, "true" }));
			case "SREM" -> words.subList(2, words.size()).forEach((m) -> parts.add(new String[] { key, m, "false" }));
			case "DEL", "UNLINK" ->
				words.subList(1, words.size()).forEach((k) -> parts.add(new String[] { k, "", "false" }));
			case "HDEL", "ZREM" ->
				words.subList(2, words.size()).forEach((m) -> parts.add(new String[] { key, m, null }));
			default -> {
			}
		}
		return parts;
	}

	private static java.util.function.Predicate<String[]> repeated(String key, String name) {
		return (part) -> part[0].equals(key) && part[1].equals(name);
	}

	private Object value(String operation, String[] part) {
		try {
			return switch (operation) {
				case "SET", "MSET" -> this.redis.get(part[0]);
				case "HSET", "HDEL" -> this.redis.hget(part[0], part[1]);
				case "ZADD", "ZREM" -> this.redis.zscore(part[0], part[1]);
				case "SADD", "SREM" -> this.redis.sismember(part[0], part[1]);
				default -> this.redis.exists(part[0]) > 0;
			};
		}
		catch (io.lettuce.core.RedisCommandExecutionException ex) {
			return "another type";
		}
	}

	/** Notes what a record writes: all of a key, a part, or that it makes the key. */
	private static void note(List<String> words, Map<String, Map<String, Integer>> writes) {
		String key = words.get(1);
		switch (words.get(0)) {
			case "HSET", "SADD", "ZADD", "HINCRBYFLOAT" -> {
				note(writes, key, "+");
				parts(words).forEach((part) -> note(writes, key, part[1]));
				if (words.get(0).equals("HINCRBYFLOAT")) {
					note(writes, key, words.get(2));
				}
				if (words.get(2).equals("GT")) {
					note(writes, key, words.get(4));
				}
			}
			case "HDEL", "SREM", "ZREM" -> parts(words).forEach((part) -> note(writes, key, part[1]));
			case "MSET" -> parts(words).forEach((part) -> note(writes, part[0], "*"));
			case "DEL", "UNLINK" -> parts(words).forEach((part) -> note(writes, part[0], "*"));
			default -> note(writes, key, "*");
		}
	}

	private static void note(Map<String, Map<String, Integer>> writes, String key, String part) {
		writes.computeIfAbsent(key, (name) -> new HashMap<>()).put(part, 1);
	}

}
