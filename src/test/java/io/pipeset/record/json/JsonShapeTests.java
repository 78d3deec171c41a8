package io.pipeset.record.json;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.pipeset.record.format.Snapshot;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A record is read as if it were the only one, even if it has the shape of the previous
 * one.
 */
class JsonShapeTests {

	private static final int BODIES = Integer.getInteger("fuzz.bodies", 500);

	private static final char[] TELLING = "{}[]\",:\\u0eE-+. x\u0000\u007f\u00c3".toCharArray();

	@Test
	void recordsOfOneShapeDifferInTheirStrings() {
		JsonShape shape = new JsonShape();
		byte[] first = bytes("{\"key\":\"a\",\"value\":\"b\"}");
		assertThat(shape.matches(first, 0, first.length)).isFalse();
		assertThat(shape.clear()).isTrue();
		shape.addString(2, 20, 1);
		shape.addString(1, 8, 1);
		shape.learn(first, 0, first.length);
		for (String like : List.of("{\"key\":\"a\",\"value\":\"b\"}", "{\"key\":\"\",\"value\":\"longer than b\"}")) {
			assertThat(shape.matches(bytes(like), 0, like.length())).as(like).isTrue();
		}
		for (String other : List.of("{\"key\":\"a\",\"value\":\"b\"} ", "{\"key\":\"a\",\"value\":\"b\"",
				"{\"key\":\"a\"}", "{\"key\":\"a\",\"value\":\"b\"\"}", "{\"key\":\"\\u0041\",\"value\":\"b\"}",
				"{\"key\":\"\t\",\"value\":\"b\"}", "{\"key\":\"a\",\"valux\":\"b\"}",
				"{\"key\":\"a\",\"value\":\"é\"}", "{\"key\":\"a\",\"value\":3}", "")) {
			byte[] bytes = bytes(other);
			assertThat(shape.matches(bytes, 0, bytes.length)).as(other).isFalse();
		}
	}

	@Test
	void learningStopsForAWhileAfterManyShapes() {
		JsonShape shape = new JsonShape();
		List<Boolean> learnt = new ArrayList<>();
		for (int i = 0; i < 2_000; i++) {
			learnt.add(shape.clear());
		}
		assertThat(learnt.subList(0, 9)).containsOnly(true);
		assertThat(learnt.subList(9, 1033)).containsOnly(false);
		assertThat(learnt.get(1033)).isTrue();
	}

	@Test
	void stringsOfTheFirstRecordAreNotReused() {
		assertThat(Snapshot.ndjson("""
				{"op":"SET","key":"a","value":"1"}
				{"op":"SET","key":"","value":"22"}
				{"op":"SET","key":"c","value":"quoted \\" and on"}
				{"op":"SET","key":"d","value":"4"}
				{"op":"DEL","key":"e","value":"4"}
				["LPUSH","l","x","y"]
				["LPUSH","m","yy",""]
				{"op":"HSET","key":"h","fields":{"a":"1","b":"2"}}
				{"op":"HSET","key":"i","fields":{"c":"3","d":""}}
				""")).extracting(Snapshot::words)
			.containsExactly(List.of("SET", "a", "1"), List.of("SET", "", "22"),
					List.of("SET", "c", "quoted \" and on"), List.of("SET", "d", "4"), List.of("DEL", "e"),
					List.of("LPUSH", "l", "x", "y"), List.of("LPUSH", "m", "yy", ""),
					List.of("HSET", "h", "a", "1", "b", "2"), List.of("HSET", "i", "c", "3", "d", ""));
	}

	@Test
	void eachRecordIsReadAsIfItStoodAlone() throws IOException {
		for (int seed = 0; seed < BODIES; seed++) {
			Random random = new Random(seed);
			List<String> lines = new ArrayList<>();
			String shape = shape(random);
			for (int i = 0; i < 12; i++) {
				if (random.nextInt(8) == 0) {
					shape = shape(random);
				}
				lines.add(mutate(fill(shape, random, seed), random));
			}
			List<Snapshot> together = read(String.join("\n", lines));
			assertThat(together).as("seed %d", seed).hasSameSizeAs(lines);
			for (int i = 0; i < lines.size(); i++) {
				assertThat(together.get(i)).as("seed %d, line %d: %s", seed, i, lines.get(i))
					.usingRecursiveComparison()
					.ignoringFields("index", "line")
					.isEqualTo(read(lines.get(i)).get(0));
			}
		}
	}

	private static List<Snapshot> read(String lines) throws IOException {
		// A body that begins with a bracket might be taken for an array of records.
		List<Snapshot> records = Snapshot.ndjson(Snapshot.latin1("{}\n" + lines), Snapshot.MAX_RECORD_BYTES);
		return records.subList(1, records.size());
	}

	/** A record in which a question mark stands for each string that varies. */
	private static String shape(Random random) {
		String[] shapes = { "{\"op\":\"SET\",\"key\":?,\"value\":?}", "{\"value\":?, \"key\":? ,\"op\":\"SET\"}",
				"{\"key\":?,\"op\":\"SET\",\"value\":?,\"ttl\":60}", "{\"op\":\"HSET\",\"key\":?,\"fields\":{?:?,?:?}}",
				"{\"op\":\"HSET\",\"key\":?,\"fields\":{?:1,\"b\":?}}", "[\"SET\",?,?]", "[\"LPUSH\", \"l\", ?, ?, ?]",
				"{\"op\":\"SADD\",\"key\":\"s\",\"args\":[?,?]}", "{\"op\":\"SET\",\"key\":?,\"value\":{\"a\":?}}",
				"{\"op\":\"SET\",\"key\":?,\"value\":\"v\",\"id\":?}", "{\"op\":?,\"key\":\"k\",\"value\":?}",
				"{\"op\":\"SET\",\"key\":?,\"value\":?,\"encoding\":\"base64\"}", "{\"op\":\"RPOP\",\"key\":?}",
				"{\"op\":\"SET\",\"key\":?,\"value\":?,\"error\":?}", "[\"DEL\",?,7]", "[\"NONE\",?]", "?" };
		return shapes[random.nextInt(shapes.length)];
	}

	private static String fill(String shape, Random random, int seed) {
		StringBuilder filled = new StringBuilder();
		for (int i = 0; i < shape.length(); i++) {
			char c = shape.charAt(i);
			if (c != '?') {
				filled.append(c);
			}
			else if (random.nextInt(6) == 0) {
				filled.append(Snapshot.utf8(new RandomJson(seed + filled.length()).string()));
			}
			else {
				filled.append('"').append("abcdefghijkl", 0, random.nextInt(12)).append('"');
			}
		}
		return filled.toString();
	}

	private static String mutate(String line, Random random) {
		if (random.nextInt(3) > 0) {
			return line;
		}
		int at = random.nextInt(line.length());
		String telling = String.valueOf(TELLING[random.nextInt(TELLING.length)]);
		String mutated = line.substring(0, at) + ((random.nextBoolean()) ? telling : "")
				+ line.substring(at + random.nextInt(2));
		return (mutated.isBlank()) ? line : mutated;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
