package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Keys are in the slots that Redis reports. */
class SlotsTests {

	private static final RedisCommands<String, String> redis = TestCluster.shared().master(0).client();

	private static final String LETTERS = "ab{}{}{\u00e9 1";

	@ParameterizedTest
	@ValueSource(strings = { "", "{", "}", "{}", "{}a", "a{}b", "{a}", "{a}b", "a{b}c", "a{b}{c}", "{{a}}", "a{b",
			"a}b{c}", "}{", "a{}{b}c", "user:1", "\u00e9{\u00e9}\u00e9" })
	void unusualKeysAreInTheSlotsThatRedisReports(String key) {
		assertThat(slot(key)).isEqualTo(redis.clusterKeyslot(key).intValue());
	}

	@Test
	void randomKeysAreInTheSlotsThatRedisReports() {
		Random random = new Random(7);
		for (int run = 0; run < 500; run++) {
			StringBuilder key = new StringBuilder();
			for (int letter = random.nextInt(20); letter > 0; letter--) {
				key.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
			}
			assertThat(slot(key.toString())).as("'%s'", key).isEqualTo(redis.clusterKeyslot(key.toString()).intValue());
		}
	}

	@ParameterizedTest
	@CsvSource(nullValues = "none",
			value = { "DEL {a}1 {a}2, same", "DEL {a}1 {b}1, several", "DEL a, same",
					"EVALSHA 0123456789012345678901234567890123456789 0 a b, none",
					"EVALSHA 0123456789012345678901234567890123456789 2 {a}1 {a}2 c, same",
					"EVALSHA 0123456789012345678901234567890123456789 2 a b c, several" })
	void aRecordIsInTheSlotOfAllItsKeys(String command, String expected) {
		Record record = new Record();
		String[] words = command.split(" ");
		record.begin(0);
		record.operation(Operation.find(words[0]));
		Arrays.stream(words)
			.skip(1)
			.map((word) -> word.getBytes(StandardCharsets.UTF_8))
			.forEach((word) -> record.argument(word, 0, word.length));
		record.check();
		int a = slot("a");
		assertThat(record.slot())
			.isEqualTo((expected != null) ? (expected.equals("same") ? a : Slots.SEVERAL) : Slots.NONE);
	}

	/** The key is in the middle of an array. */
	private static int slot(String key) {
		byte[] bytes = ("{x}" + key + "{y}").getBytes(StandardCharsets.UTF_8);
		return Slots.of(bytes, 3, bytes.length - 6);
	}

}
