package io.pipeset.record;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.KeyListOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The table agrees with Redis itself about every operation. */
class OperationTableTests {

	private static final String SHA = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@EnumSource
	void arityKeysAndWritingAreThoseOfCommandInfo(Operation operation) {
		List<?> info = (List<?>) this.redis.commandInfo(operation.name()).get(0);
		List<String> flags = ((Collection<?>) info.get(2)).stream().map(String::valueOf).toList();
		assertThat(info.get(0)).isEqualTo(operation.name().toLowerCase(Locale.ROOT));
		assertThat(info.get(1)).as("arity").isEqualTo(ofCommand(operation.arity()));
		assertThat(info.subList(3, 6)).as("first key, last key, step").isEqualTo(switch (operation.keys()) {
			case FIRST -> List.of(1L, 1L, 1L);
			case ALL -> List.of(1L, -1L, 1L);
			case COUNTED -> List.of(0L, 0L, 0L);
		});
		if (operation.keys() == Keys.COUNTED) {
			assertThat(flags).contains("movablekeys", "noscript");
		}
		else {
			assertThat(flags).contains("write").doesNotContain("movablekeys", "blocking", "admin");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET k v GET", "HSET k f v g w", "DEL a b c", "UNLINK a", "RPOP k 3",
			"EVALSHA " + SHA + " 2 a b c d", "EVALSHA " + SHA + " 1 a", "ZADD k NX 1 m", "XADD k NOMKSTREAM * f v" })
	void keysAreThoseThatRedisFinds(String command) {
		String[] words = command.split(" ");
		CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8).add("GETKEYS");
		Stream.of(words).forEach(args::add);
		List<String> keys = this.redis.dispatch(CommandType.COMMAND, new KeyListOutput<>(StringCodec.UTF8), args);
		Record record = record(words);
		assertThat(record.keyCount()).isEqualTo(keys.size());
		assertThat(record.key()).isEqualTo(keys.get(0));
		assertThat(record.keyHash()).isEqualTo(record("DEL", keys.get(0)).keyHash());
	}

	@Test
	void aScriptWithoutKeysHasNone() {
		Record record = record("EVALSHA", SHA, "0", "argument");
		assertThat(record.keyCount()).isZero();
		assertThat(record.key()).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET k v nx", "SET k v NX NX", "SET k v XX", "SET k v NX XX", "SET k v GET",
			"SET k v XX GET", "SET k v ex 10", "SET k v EX 0", "SET k v EX -1", "SET k v EX 010", "SET k v EX",
			"SET k v EX ten", "SET k v PX 9000000000000000000", "SET k v PX 9223372036854775808", "SET k v EX 10 EX 20",
			"SET k v EX 9000000000000000", "SET k v EX 9223372036854775", "SET k v EX 9223372036854776",
			"SET k v EXAT 9000000000000000", "SET k v EXAT 9223372036854776", "SET k v PXAT 9000000000000000000",
			"SET k v PXAT 9223372036854775808", "EXPIRE k 9000000000000000", "EXPIRE k 9223372036854775",
			"EXPIRE k -9000000000000000", "EXPIRE k -9223372036854776", "EXPIRE k 9223372036854776",
			"SET k v EX 10 PX 20", "SET k v EXAT 33177117420", "SET k v PXAT 33177117420000", "SET k v KEEPTTL",
			"SET k v KEEPTTL KEEPTTL", "SET k v KEEPTTL EX 5", "SET k v EX 5 KEEPTTL", "SET k v EX 5 GET NX",
			"SET k v n", "SET k", "SET k v w", "HSET k f v", "HSET k f", "HSET k f v g", "HDEL k f g", "HDEL k",
			"RPOP k", "RPOP k 0", "RPOP k 5", "RPOP k -1", "RPOP k 05", "RPOP k x", "RPOP k 1 1",
			"RPOP k 9223372036854775808", "LPOP k 2", "LPOP k +2", "LPUSH k", "LPUSH k a b", "RPUSH k a", "RPUSH k",
			"DEL k", "DEL", "UNLINK a b", "UNLINK", "EXPIRE k 10", "EXPIRE k -10", "EXPIRE k 1.5", "EXPIRE k x",
			"EXPIRE k -0", "EXPIRE k 10 NX", "EXPIRE k 10 xx gt", "EXPIRE k 10 GT GT", "EXPIRE k 10 NX XX",
			"EXPIRE k 10 NX GT", "EXPIRE k 10 LT NX", "EXPIRE k 10 GT LT", "EXPIRE k 10 CH", "EXPIRE k", "PERSIST k",
			"PERSIST k l", "SADD k a b", "SADD k", "SREM k a", "SREM k", "ZADD k 1 m", "ZADD k 1 m 2", "ZADD k nx 1 m",
			"ZADD k NX NX 1 m 2 n", "ZADD k XX GT 1 m", "ZADD k LT CH 1 m", "ZADD k INCR 1 m", "ZADD k INCR 1 m 2 n",
			"ZADD k NX XX 1 m", "ZADD k NX GT 1 m", "ZADD k GT LT 1 m", "ZADD k NX CH INCR 1 m", "ZADD k NX CH",
			"ZADD k NX 1", "ZADD k inf m -inf n", "ZADD k NX", "ZREM k m n", "ZREM k", "XADD k * f v",
			"XADD k 1-1 f v g w", "XADD k 1-* f v", "XADD k 5 f v", "XADD k * f", "XADD k * f v g", "XADD k *",
			"XADD k NOMKSTREAM * f v", "XADD k MAXLEN 5 * f v", "XADD k MAXLEN = 5 * f v",
			"XADD k maxlen ~ 5 limit 10 * f v", "XADD k MAXLEN ~ 5 LIMIT 10 NOMKSTREAM * f v",
			"XADD k NOMKSTREAM MINID ~ 5-1 LIMIT 0 9-9 f v", "XADD k MINID 5 * f v", "XADD k MAXLEN 5 LIMIT 3 * f v",
			"XADD k LIMIT 3 * f v", "XADD k LIMIT 3 MAXLEN ~ 5 * f v", "XADD k MAXLEN = 5 LIMIT 3 * f v",
			"XADD k MAXLEN -1 * f v", "XADD k MAXLEN 5 MINID 1 * f v", "XADD k MAXLEN ~ 5 MAXLEN ~ 6 * f v",
			"XADD k MAXLEN * f v", "XADD k MAXLEN ~ * f v", "XADD k MAXLEN ~ x * f v", "XADD k BEST * f v",
			"XADD k MAXLEN ~ 5 LIMIT x * f v", "XADD k MAXLEN 5 f v", "XADD k MAXLEN", "XADD k NOMKSTREAM * f",
			"INCRBY k 5", "INCRBY k -5", "INCRBY k +5", "INCRBY k 1.5", "INCRBY k 9223372036854775807",
			"INCRBY k 9223372036854775808", "INCRBY k -9223372036854775808", "INCRBY k -9223372036854775809",
			"INCRBY k", "INCRBY k 07", "INCRBY k -", "HINCRBY k f 5", "HINCRBY k f x", "HINCRBY k f", "PFADD k",
			"PFADD k a b", "PFADD", "GEOADD k 13 38 a", "GEOADD k NX 13 38 a 15 37 b", "GEOADD k xx ch 13 38 a",
			"GEOADD k NX XX 13 38 a", "GEOADD k 13 38", "GEOADD k 13 38 a 15 37", "GEOADD k CH 13 38 a",
			"GEOADD k NX CH NX", "SETBIT k 7 1", "SETBIT k 7 2", "SETBIT k -1 1", "SETBIT k x 1", "SETBIT k 7 01",
			"SETBIT k 7", "EVALSHA " + SHA + " 0", "EVALSHA " + SHA + " 1 k", "EVALSHA " + SHA + " 2 k",
			"EVALSHA " + SHA + " -1 k", "EVALSHA " + SHA + " x k", "EVALSHA " + SHA + " 1", "EVALSHA " + SHA })
	void whatIsRefusedIsWhatRedisRefuses(String command) {
		assertThat(this.redis.scriptLoad("return 1")).isEqualTo(SHA);
		String[] words = command.split(" ");
		Record record = record(words);
		if (record.rejection() == null) {
			assertThatCode(() -> send(words)).doesNotThrowAnyException();
		}
		else {
			assertThat(record.rejection().code()).isEqualTo(Rejection.MALFORMED);
			assertThat(record.rejection().message()).startsWith(words[0]);
			assertThatExceptionOfType(RedisCommandExecutionException.class).isThrownBy(() -> send(words));
		}
	}

	@ParameterizedTest
	@CsvSource({ "SET k v EX 9000000000000001, 1 to 9000000000000000",
			"SET k v PX 9000000000000000001, 1 to 9000000000000000000",
			"SET k v EXAT 9000000000000001, 1 to 9000000000000000",
			"SET k v PXAT 9000000000000000001, 1 to 9000000000000000000",
			"EXPIRE k 9000000000000001, -9000000000000000 to 9000000000000000",
			"EXPIRE k -9000000000000001, -9000000000000000 to 9000000000000000",
			"SET k v EX soon, 1 to 9000000000000000", "SET k v PX 0, 1 to 9000000000000000000" })
	void aTimeThatIsRefusedIsNamedWithWhatIsAllowed(String command, String allowed) {
		Rejection rejection = record(command.split(" ")).rejection();
		assertThat(rejection).isNotNull();
		assertThat(rejection.message()).startsWith(command.substring(0, command.indexOf(" ")) + "'s")
			.contains(allowed)
			.endsWith("not '" + command.substring(command.lastIndexOf(' ') + 1) + "'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET k v", "SET k v EX 10", "SET k v PXAT 33177117420000", "SET k v KEEPTTL", "HSET k f v",
			"HDEL k f", "DEL k", "UNLINK k", "EXPIRE k 10", "PERSIST k", "SADD k a", "SREM k a", "ZADD k 1 m",
			"ZADD k CH 1 m", "ZREM k m", "PFADD k a", "GEOADD k 13 38 a", "GEOADD k CH 13 38 a", "SETBIT k 7 1" })
	void aRepeatOfWhatIsRepeatableLeavesTheSameData(String command) {
		String[] words = command.split(" ");
		assertThat(record(words).effect()).isEqualTo(Effect.REPEATABLE);
		for (String before : List.of("DEL k", "SET k x", "HSET k f x", "SADD k b", "ZADD k 9 m", "GEOADD k 1 2 a")) {
			this.redis.flushall();
			tryToSend(before.split(" "));
			tryToSend(words);
			byte[] once = this.redis.dump("k");
			tryToSend(words);
			assertThat(this.redis.dump("k")).as("after %s", before).isEqualTo(once);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET k v NX", "SET k v XX", "SET k v GET", "SET k v NX GET", "SET k v EX 5 XX GET",
			"RPOP k", "LPOP k 2", "LPUSH k a", "RPUSH k a", "EXPIRE k 10 NX", "EXPIRE k 10 XX", "EXPIRE k 10 GT",
			"EXPIRE k 10 LT", "ZADD k NX 1 m", "ZADD k XX 1 m", "ZADD k GT 1 m", "ZADD k LT 1 m", "ZADD k INCR 1 m",
			"XADD k * f v", "XADD k 1-1 f v", "XADD k NOMKSTREAM * f v", "INCRBY k 1", "HINCRBY k f 1",
			"GEOADD k NX 13 38 a", "GEOADD k XX 13 38 a", "EVALSHA " + SHA + " 1 k" })
	void whatAddsTakesOrDependsIsNotRepeatable(String command) {
		assertThat(record(command.split(" ")).effect().isRepeatable()).isFalse();
	}

	@Test
	void aRecordsEffectIsForgottenByTheNext() {
		Record record = new Record();
		fill(record, "SET", "k", "v", "NX");
		assertThat(record.effect()).isEqualTo(Effect.CONDITIONAL);
		fill(record, "SET", "k", "v");
		assertThat(record.effect()).isEqualTo(Effect.REPEATABLE);
	}

	@ParameterizedTest
	@ValueSource(strings = { "FLUSHALL", "flushAll", "KEYS", "CONFIG", "BLPOP", "MULTI", "EXEC", "SELECT", "SUBSCRIBE",
			"EVAL", "eval", "SCRIPT", "FCALL", "GET", "RENAME", "LMOVE", "XREADGROUP", "SET ", " SET", "SE", "SETT", "",
			"SET\u0000", "\u017fET", "CLIENT", "DEBUG", "SHUTDOWN", "REPLICAOF", "MIGRATE", "RESTORE" })
	void whatIsNotInTheTableIsUnknown(String name) {
		assertThat(Operation.find(name)).isNull();
	}

	@ParameterizedTest
	@EnumSource
	void aNameIsFoundInAnyCase(Operation operation) {
		assertThat(Operation.find(operation.name().toLowerCase(Locale.ROOT))).isEqualTo(operation);
		assertThat(Operation.find(operation.name().charAt(0) + operation.name().substring(1).toLowerCase(Locale.ROOT)))
			.isEqualTo(operation);
	}

	@Test
	void theDocumentationHasTheSameRows() throws IOException {
		Map<String, String> repeats = Files.readAllLines(Path.of("docs/http.md"))
			.stream()
			.filter((line) -> line.matches("\\| [A-Z]+ \\|.*"))
			.map((line) -> line.split(" *\\| *"))
			.collect(Collectors.toMap((cells) -> cells[1], (cells) -> cells[4]));
		assertThat(repeats.keySet())
			.containsExactlyInAnyOrderElementsOf(Arrays.stream(Operation.values()).map(Operation::name).toList());
		repeats.forEach((name, repeat) -> assertThat(repeat.startsWith("does no harm")).as(name)
			.isEqualTo(Operation.valueOf(name).effect().isRepeatable()));
	}

	/**
	 * An arity as COMMAND INFO writes it: it counts the name, and a minimum is negative.
	 */
	private static long ofCommand(Arity arity) {
		return (arity.least() == arity.most()) ? arity.least() + 1 : -(arity.least() + 1);
	}

	private void tryToSend(String... words) {
		try {
			send(words);
		}
		catch (RedisCommandExecutionException ex) {
			assertThat(ex).hasMessageStartingWith("WRONGTYPE");
		}
	}

	private void send(String... words) {
		CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
		Stream.of(words).skip(1).forEach(args::add);
		this.redis.dispatch(CommandType.valueOf(words[0]), new ArrayOutput<>(StringCodec.UTF8), args);
	}

	private static Record record(String... words) {
		Record record = new Record();
		fill(record, words);
		return record;
	}

	private static void fill(Record record, String... words) {
		record.begin(0);
		record.operation(Operation.valueOf(words[0]));
		for (String word : Arrays.asList(words).subList(1, words.length)) {
			byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
			record.argument(bytes, 0, bytes.length);
		}
		record.check();
	}

}
