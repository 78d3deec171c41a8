package io.pipeset.engine.pipeline.call;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

import io.pipeset.record.Description;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Answers to COMMAND of servers and modules that the build does not have. */
class CommandDescriptionsTests {

	/** As RedisBloom on Redis 8.0 answers, by RESP3 and by RESP2. */
	private final CommandDescriptions descriptions = CommandDescriptions
		.of(List.of(command("BF.ADD", 3L, Set.of("write", "denyoom", "module"), 1L, 1L, 1L, Set.of("@bloom", "@write")),
				command(bytes("bf.madd"), -3L, List.of(bytes("write")), 1L, 1L, 1L, List.of()),
				command("BF.EXISTS", 3L, Set.of("readonly"), 1L, 1L, 1L, Set.of()),
				command("SORT", -2L, Set.of("write", "movablekeys"), 1L, 1L, 1L, Set.of()),
				command("RESTORE-ASKING", -4L, Set.of("write"), 1L, 1L, 1L, Set.of("@dangerous")),
				command("NEW", -3L, Set.of("write"), 2L, -2L, 2L, Set.of()),
				command("FLUSHDB", -1L, Set.of("write"), 0L, 0L, 0L, Set.of())));

	private static List<Object> command(Object... parts) {
		return List.of(parts);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@Test
	void findsCommandsThatWriteToKeysInFixedPlaces() {
		for (String name : List.of("BF.ADD", "BF.MADD", "NEW")) {
			assertThat(this.descriptions.find(name)).as(name).hasToString(name);
		}
		for (String name : List.of("BF.EXISTS", "SORT", "RESTORE-ASKING", "FLUSHDB", "NONE")) {
			assertThat(this.descriptions.find(name)).as(name).isNull();
		}
	}

	@Test
	void keysAreWhereTheServerSays() {
		Operation operation = this.descriptions.find("NEW");
		assertThat(operation).isSameAs(Operation.described("new", new Description(-3, 2, -2, 2)));
		Record record = new Record();
		record.begin(0);
		record.operation(operation);
		for (String word : List.of("opt", "k1", "v1", "k2", "v2")) {
			record.argument(bytes(word), 0, word.length());
		}
		record.check();
		assertThat(record.rejection()).isNull();
		assertThat(record.key()).isEqualTo("k1");
		assertThat(record.keyCount()).isEqualTo(2);
	}

}
