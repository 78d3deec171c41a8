package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

import io.lettuce.core.KeyScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A pattern matches exactly the keys that Redis's own SCAN finds. */
class GlobPatternTests {

	/** Many rules in few characters, so that random keys match random patterns. */
	private static final String[] PARTS = { "*", "?", "[", "]", "^", "-", "\\", "a", "b", "c", "é", "**", "[a-c]",
			"[^a]", "[c-a]", "[]", "[^]", "[é]" };

	private static final String[] LETTERS = { "a", "b", "c", "é", "*", "?", "[", "]", "^", "-", "\\" };

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void randomPatternsMatchWhatScanFinds() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		Set<String> keys = new HashSet<>(List.of("", "a", "]", "\\"));
		for (int i = 0; i < 300; i++) {
			keys.add(text(random, LETTERS, random.nextInt(5)));
		}
		this.redis.mset(keys.stream().collect(Collectors.toMap((key) -> key, (key) -> "v")));
		int compared = 0;
		for (int i = 0; i < 2000; i++) {
			GlobPattern pattern = GlobPattern.parse(text(random, PARTS, 1 + random.nextInt(6)));
			if (pattern != null) {
				assertThat(matches(pattern, keys)).as("seed %d, pattern %s", seed, pattern)
					.isEqualTo(scan(pattern.toString()));
				compared++;
			}
		}
		assertThat(compared).isGreaterThan(1000);
	}

	@ParameterizedTest
	@ValueSource(strings = { "*", "**", "a", "a*", "*a", "[", "[^", "[a", "[a-", "[a-]", "[a-c", "\\", "a\\", "[\\",
			"[\\]", "[\\]]", "[^a", "[]a]", "[--a]", "a**b", "?*?", "*?*", "[^]]", "[a\\-c]" })
	void unusualPatternsMatchWhatScanFinds(String text) {
		Set<String> keys = Set.of("", "a", "b", "aa", "ab", "a]", "]", "[", "-", "\\", "a\\", "acb", "c", "]a]", "^");
		this.redis.mset(keys.stream().collect(Collectors.toMap((key) -> key, (key) -> "v")));
		GlobPattern pattern = GlobPattern.parse(text);
		assertThat(pattern).isNotNull();
		assertThat(matches(pattern, keys)).isEqualTo(scan(text));
	}

	@ParameterizedTest
	@CsvSource({ "product:*, product:7, true", "product:*, products:7, false", "*:[0-9], x:7, true",
			"a?c, abbc, false" })
	void patternsCompareWholeKeys(String text, String key, boolean matches) {
		GlobPattern pattern = GlobPattern.parse(text);
		assertThat(pattern).isNotNull();
		byte[] source = ("..." + key + "...").getBytes(StandardCharsets.UTF_8);
		assertThat(pattern.matches(source, 3, source.length - 6)).isEqualTo(matches);
	}

	/** The order of such bytes depends on the processor of the server. */
	@ParameterizedTest
	@ValueSource(strings = { "", "[a-é]", "[é-a]x" })
	void patternsForWhichServersDifferAreRefused(String text) {
		assertThat(GlobPattern.parse(text)).isNull();
	}

	@Test
	void longPatternsAreRefused() {
		assertThat(GlobPattern.parse("é".repeat(256))).isNotNull();
		assertThat(GlobPattern.parse("é".repeat(256) + "a")).isNull();
	}

	/** It would take years to try all ways to match. */
	@Test
	void manyAsterisksTakeNoTime() {
		GlobPattern pattern = GlobPattern.parse("*a".repeat(250));
		assertThat(pattern).isNotNull();
		byte[] key = ("a".repeat(10_000) + "b").getBytes(StandardCharsets.UTF_8);
		assertThat(pattern.matches(key, 0, key.length)).isFalse();
	}

	private static String text(Random random, String[] parts, int count) {
		StringBuilder text = new StringBuilder();
		for (int i = 0; i < count; i++) {
			text.append(parts[random.nextInt(parts.length)]);
		}
		return text.toString();
	}

	private static Set<String> matches(GlobPattern pattern, Collection<String> keys) {
		return keys.stream().filter((key) -> {
			byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
			return pattern.matches(bytes, 0, bytes.length);
		}).collect(Collectors.toSet());
	}

	private Set<String> scan(String pattern) {
		List<String> found = new ArrayList<>();
		ScanIterator.scan(this.redis, new KeyScanArgs().match(pattern, StandardCharsets.UTF_8).limit(1000))
			.forEachRemaining(found::add);
		return new HashSet<>(found);
	}

}
