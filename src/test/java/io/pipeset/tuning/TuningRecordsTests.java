package io.pipeset.tuning;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * All keys of a tuning have its prefix, and each key has an expiry.
 */
class TuningRecordsTests {

	private static final String PREFIX = "pipeset:tuning:t:";

	@ParameterizedTest
	@CsvSource({ "SET, SET P0000000 vvv EX 3600, SET P0000001 vvv EX 3600",
			"HSET, HSET P000 id 000 value vvv, HSET P001 id 001 value vvv", "LPUSH, LPUSH P000 vvv, LPUSH P001 vvv" })
	void eachRecordIsACommandOfTheOperation(Operation operation, String first, String second) throws IOException {
		TuningKeys keys = new TuningKeys("t", operation, 2_000);
		List<String> commands = commands(new TuningRecords(keys, 3, 2, () -> 0, 1));
		assertThat(commands).containsExactly(first.replace("P", PREFIX).replace(PREFIX + "USH", "PUSH"),
				second.replace("P", PREFIX).replace(PREFIX + "USH", "PUSH"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET", "HSET", "LPUSH" })
	void writtenKeysAreExactlyTheRemovedKeys(Operation operation) throws IOException {
		TuningKeys keys = new TuningKeys("t", operation, 2_345);
		Set<String> written = new LinkedHashSet<>();
		for (String command : commands(new TuningRecords(keys, 1, 2_345, () -> 0, 1))) {
			written.add(command.split(" ", -1)[1]);
		}
		List<String> removed = new ArrayList<>();
		for (int i = 0; i < keys.count(); i++) {
			removed.add(new String(keys.key(i), StandardCharsets.US_ASCII));
		}
		assertThat(written).containsExactlyElementsOf(removed)
			.hasSize((operation == Operation.SET) ? 2_345 : 1_000)
			.allMatch((key) -> key.startsWith(PREFIX));
	}

	@Test
	void recordsEndAtTheDeadline() throws IOException {
		TuningKeys keys = new TuningKeys("t", Operation.SET, 10_000);
		AtomicLong clock = new AtomicLong(Long.MAX_VALUE);
		TuningRecords records = new TuningRecords(keys, 1, 10_000, clock::getAndIncrement, Long.MAX_VALUE + 2);
		assertThat(commands(records)).hasSize(3_000);
		assertThat(records.isTimedOut()).isTrue();
	}

	@Test
	void preparationLeavesNoKeyWithoutExpiryAtTheEndOfATransaction() throws IOException {
		TuningKeys keys = new TuningKeys("t", Operation.LPUSH, 1_000);
		PreparedKeys prepared = new PreparedKeys(keys);
		List<String> commands = commands(prepared);
		assertThat(commands).hasSize((int) prepared.count());
		assertThat(commands.subList(0, 4)).containsExactly("UNLINK " + PREFIX + "000", "LPUSH " + PREFIX + "000 v",
				"EXPIRE " + PREFIX + "000 3600", "UNLINK " + PREFIX + "001");
		assertThat(commands.get(PreparedKeys.BATCH_SIZE - 1)).startsWith("EXPIRE ");
		assertThat(new TuningKeys("t", Operation.SET, 1_000).needPreparation()).isFalse();
	}

	private static List<String> commands(RecordReader reader) throws IOException {
		Record record = new Record();
		List<String> commands = new ArrayList<>();
		while (reader.read(record)) {
			assertThat(record.rejection()).isNull();
			StringBuilder command = new StringBuilder(record.operation().name());
			for (int i = 0; i < record.argumentCount(); i++) {
				command.append(' ')
					.append(new String(record.source(i), record.offset(i), record.length(i),
							StandardCharsets.US_ASCII));
			}
			commands.add(command.toString());
		}
		return commands;
	}

}
