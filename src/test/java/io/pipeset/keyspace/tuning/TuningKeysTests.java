package io.pipeset.keyspace.tuning;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * All keys of a tuning have its prefix, and each key has an expiry.
 */
class TuningKeysTests {

	private static final String PREFIX = "pipeset:tuning:t:";

	@ParameterizedTest
	@CsvSource({ "SET, SET P0 vvv EX 3600, SET P1 vvv EX 3600", "HSET, HSET P0 id 0 value vvv, HSET P1 id 1 value vvv",
			"LPUSH, LPUSH P0 vvv, LPUSH P1 vvv" })
	void eachRecordIsACommandOfTheOperation(Operation operation, String first, String second) {
		TuningKeys keys = keys(operation, 2_000);
		assertThat(commands(keys::write, 2)).containsExactly(first, second);
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET", "HSET", "LPUSH" })
	void writtenKeysAreExactlyTheRemovedKeys(Operation operation) {
		TuningKeys keys = keys(operation, 2_345);
		List<String> removed = commands(keys::remove, keys.count());
		assertThat(commands(keys::write, 2_345).stream().map((command) -> "UNLINK " + command.split(" ", -1)[1]))
			.containsAll(removed)
			.allMatch(removed::contains);
		assertThat(removed).hasSize((operation == Operation.SET) ? 2_345 : 1_000).doesNotHaveDuplicates();
	}

	@Test
	void preparationLeavesNoKeyWithoutExpiryAtTheEndOfATransaction() {
		TuningKeys keys = keys(Operation.LPUSH, 1_000);
		assertThat(commands(keys::prepare, 4)).containsExactly("UNLINK P0", "LPUSH P0 id", "EXPIRE P0 3600",
				"UNLINK P1");
		assertThat(keys(Operation.SET, 1_000).needPreparation()).isFalse();
	}

	private static TuningKeys keys(Operation operation, int records) {
		return new TuningKeys("t",
				new TuningSettings(operation, records, 3, Map.of(), List.of(), 1, Duration.ofSeconds(1)));
	}

	private static List<String> commands(ObjIntConsumer<Record> fill, int count) {
		Record record = new Record();
		return IntStream.range(0, count).mapToObj((number) -> {
			fill.accept(record, number);
			assertThat(record.rejection()).isNull();
			List<String> words = new ArrayList<>(List.of(record.operation().name()));
			for (int i = 0; i < record.argumentCount(); i++) {
				words.add(new String(record.source(i), record.offset(i), record.length(i), StandardCharsets.US_ASCII));
			}
			return String.join(" ", words).replace(PREFIX, "P");
		}).toList();
	}

}
