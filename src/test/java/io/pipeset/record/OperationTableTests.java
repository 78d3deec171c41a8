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
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.KeyListOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The table agrees with Redis about every operation. */
class OperationTableTests {

	private static final String SHA = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@MethodSource("io.pipeset.record.Operation#values")
	void arityKeysAndWritingAreThoseOfCommandInfo(Operation operation) {
		TestRedis.shared().assumeKnown(operation.toString());
		List<?> info = (List<?>) this.redis.commandInfo(operation.toString()).get(0);
		List<String> flags = ((Collection<?>) info.get(2)).stream().map(String::valueOf).toList();
		assertThat(info.get(0)).asString().isEqualToIgnoringCase(operation.toString());
		if (!flags.contains("module") || !info.get(1).equals(-1L)) {
			// Before Redis 8.2, a module only reports that it checks the number of
			// arguments itself.
			assertThat(info.get(1)).as("arity").isEqualTo(ofCommand(operation.arity()));
		}
		assertThat(info.subList(3, 6)).as("first key, last key, step").isEqualTo(switch (operation.keys().toString()) {
			case "FIRST" -> List.of(1L, 1L, 1L);
			case "FIRST_TWO" -> List.of(1L, 2L, 1L);
			case "ALL" -> List.of(1L, -1L, 1L);
			case "PAIRS" -> List.of(1L, -1L, 2L);
			case "TRIPLES" -> List.of(1L, -1L, 3L);
			case "FIRST_AND_COUNTED" -> List.of(1L, 1L, 1L);
			default -> List.of(0L, 0L, 0L);
		});
		if (operation.keys() == Keys.COUNTED) {
			assertThat(flags).contains("movablekeys", "noscript");
		}
		else if (operation.keys() == Keys.COUNTED_PAIRS || operation.keys() == Keys.FIRST_AND_COUNTED) {
			assertThat(flags).contains("movablekeys", "write");
		}
		else {
			assertThat(flags).contains("write").doesNotContain("movablekeys", "blocking", "admin");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET k v GET", "HSET k f v g w", "DEL a b c", "UNLINK a", "RPOP k 3",
			"EVALSHA " + SHA + " 2 a b c d", "EVALSHA " + SHA + " 1 a", "ZADD k NX 1 m", "XADD k NOMKSTREAM * f v",
			"COPY a b REPLACE", "RENAME a b", "LMOVE a b LEFT RIGHT", "SMOVE a b m", "XTRIM k MAXLEN 5", "GETDEL k",
			"MSET a 1 b 2", "SETNX k v", "INCR k", "DECR k", "DECRBY k 2", "RESTORE k 0 x", "MSETEX 1 a v",
			"MSETEX 2 a v b w EX 10", "MSETEX 3 a v b w c x NX", "HSETEX k EX 10 FIELDS 1 f v",
			"HEXPIRE k 10 FIELDS 1 f", "DELIFEQ k v", "VADD k VALUES 2 1 2 e", "JSON.SET k $ 1",
			"JSON.MSET a $ 1 b $ 2", "TS.MADD a 1 2 b 3 4", "ZUNIONSTORE d 2 a b WEIGHTS 1 2", "ZINTERSTORE d 1 a",
			"ZDIFFSTORE d 3 a b c", "RENAMENX a b", "MSETNX a 1 b 2", "LINSERT k BEFORE a b", "BITFIELD k SET u8 0 1",
			"HPEXPIREAT k 10 FIELDS 1 f" })
	void keysAreThoseThatRedisFinds(String command) {
		String[] words = command.split(" ");
		TestRedis.shared().assumeKnown(words[0]);
		CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8).add("GETKEYS");
		Stream.of(words).forEach(args::add);
		List<String> keys = this.redis.dispatch(CommandType.COMMAND, new KeyListOutput<>(StringCodec.UTF8), args);
		Record record = record(words);
		assertThat(record.keyCount()).isEqualTo(keys.size());
		assertThat(keysOf(record)).isEqualTo(keys);
		assertThat(record.key()).isEqualTo(keys.get(0));
		assertThat(record.keyHash()).isEqualTo(record("DEL", keys.get(0)).keyHash());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			MSETEX 3 a v b w c x NX           | a b c
			JSON.MSET a $ 1 b $.x 2           | a b
			TS.MADD a 1 2 b 3 4 c 5 6         | a b c
			COPY a b                          | a b
			MSET a 1 b 2 c 3                  | a b c
			LMOVE a b LEFT LEFT               | a b
			VADD k VALUES 2 1 2 e             | k
			ZUNIONSTORE d 2 a b WEIGHTS 1 2   | d a b
			""")
	void keysAreAtThePositionsOfTheirCommand(String command, String keys) {
		Record record = record(command.split(" "));
		assertThat(record.rejection()).isNull();
		assertThat(keysOf(record)).containsExactly(keys.split(" "));
	}

	@ParameterizedTest
	@CsvSource({ "'MSETEX 2 {t}a v {t}b w', true", "'MSETEX 2 {t}a v {u}b {t}w', false",
			"'JSON.MSET {t}a $ 1 {t}b $ {u}', true", "'TS.MADD {t}a 1 2 {u}b 3 4', false", "'COPY {t}a {t}b', true",
			"'LMOVE {t}a {u}b LEFT LEFT', false", "'ZUNIONSTORE {t}d 2 {t}a {u}b', false",
			"'ZDIFFSTORE {t}d 1 {t}a', true" })
	void severalKeysAreInOneSlotOrNot(String command, boolean one) {
		assertThat(record(command.split(" ")).slot() != Slots.SEVERAL).isEqualTo(one);
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
			"SETBIT k 7", "SETEX k 10 v", "SETEX k 0 v", "SETEX k x v", "SETEX k 10", "SETEX k 9000000000000000 v",
			"PSETEX k 10 v", "PSETEX k -1 v", "PSETEX k 1", "APPEND k v", "APPEND k", "SETRANGE k 5 v",
			"SETRANGE k -1 v", "SETRANGE k x v", "SETRANGE k 5", "GETDEL k", "GETDEL", "GETDEL k l",
			"INCRBYFLOAT k 1.5", "INCRBYFLOAT k", "HINCRBYFLOAT k f 1e2", "HINCRBYFLOAT k f", "HSETNX k f v",
			"HSETNX k f", "PEXPIRE k 10", "PEXPIRE k 9000000000000000000", "PEXPIRE k 10 NX GT", "PEXPIRE k x",
			"EXPIREAT k 10", "EXPIREAT k 9000000000000000", "EXPIREAT k 10 GT LT", "EXPIREAT k 1.5",
			"PEXPIREAT k 10 xx", "PEXPIREAT k 10 CH", "PEXPIREAT k", "COPY a b", "COPY a b REPLACE",
			"COPY a b replace replace", "COPY a", "COPY a b WITH", "RENAME k", "LMOVE a b LEFT RIGHT",
			"LMOVE a b left left", "LMOVE a b LEFT UP", "LMOVE a b UP LEFT", "LMOVE a b LEFT", "SMOVE a b m",
			"SMOVE a b", "ZINCRBY k 1.5 m", "ZINCRBY k inf m", "ZINCRBY k 1", "XTRIM k MAXLEN 5", "XTRIM k maxlen = 5",
			"XTRIM k MAXLEN ~ 5", "XTRIM k MAXLEN ~ 5 LIMIT 10", "XTRIM k MINID 5-1", "XTRIM k MINID ~ 5 LIMIT 0",
			"XTRIM k MAXLEN 5 LIMIT 10", "XTRIM k MAXLEN = 5 LIMIT 10", "XTRIM k MAXLEN -1", "XTRIM k MAXLEN x",
			"XTRIM k MAXLEN ~", "XTRIM k MAXLEN", "XTRIM k BEST 5", "XTRIM k MAXLEN ~ 5 LIMIT x",
			"XTRIM k MAXLEN ~ 5 LIMIT", "XTRIM k MAXLEN ~ 5 LIMIT 10 x", "HSETEX k FIELDS 1 f v",
			"HSETEX k EX 10 FIELDS 2 f v g w", "HSETEX k FNX PX 10 FIELDS 1 f v",
			"HSETEX k PXAT 33177117420000 fxx fields 1 f v", "HSETEX k KEEPTTL FIELDS 1 f v",
			"HSETEX k EX 0 FIELDS 1 f v", "HSETEX k EX x FIELDS 1 f v", "HSETEX k EX 10 PX 10 FIELDS 1 f v",
			"HSETEX k FNX FXX FIELDS 1 f v", "HSETEX k FIELDS 2 f v", "HSETEX k FIELDS 0 f v", "HSETEX k FIELDS x f v",
			"HSETEX k EX 10 f v", "HSETEX k BEST FIELDS 1 f v", "HSETEX k FIELDS 1 f", "HSETEX k FIELDS 1 f v g w",
			"HSETEX k a b c d e", "HEXPIRE k 10 FIELDS 1 f", "HEXPIRE k 0 FIELDS 2 f g", "HEXPIRE k 10 nx FIELDS 1 f",
			"HEXPIRE k 10 GT FIELDS 1 f", "HEXPIRE k -1 FIELDS 1 f", "HEXPIRE k x FIELDS 1 f",
			"HEXPIRE k 10 FIELDS 2 f", "HEXPIRE k 10 NX XX FIELDS 1 f", "HEXPIRE k 10 FIELDS 1 f g",
			"HEXPIRE k 10 FIELDS 0 f", "HEXPIRE k 10 f g h", "HEXPIRE k 10 CH FIELDS 1 f", "HEXPIRE k 10 FIELDS 1",
			"MSETEX 1 k v", "MSETEX 2 k v l w EX 10", "MSETEX 1 k v XX PXAT 33177117420000", "MSETEX 1 k v KEEPTTL nx",
			"MSETEX 1 k v EX 10 EX 20", "MSETEX 0 k v", "MSETEX 01 k v", "MSETEX 2 k v", "MSETEX 2 k v EX",
			"MSETEX x k v", "MSETEX 1 k v l", "MSETEX 1 k v GET", "MSETEX 1 k v EX 0", "MSETEX 1 k v EX",
			"MSETEX 1 k v EX 10 PX 10", "MSETEX 1 k v NX XX", "MSETEX 1 k", "DELIFEQ k v", "DELIFEQ k", "DELIFEQ k v w",
			"VADD k VALUES 2 1 2 e", "VADD k FP32 abcdefgh e", "VADD k REDUCE 1 VALUES 2 1 2 e",
			"VADD k VALUES 2 1 2 e CAS Q8 EF 200 SETATTR {\"a\":1} M 16", "VADD k values 1 1 e noquant",
			"VADD k VALUES 3 1 2 e", "VADD k VALUES 2 1 2", "VADD k VALUES 0 e", "VADD k VALUES x 1 e",
			"VADD k VALUES 2 1 2 e BEST", "VADD k VALUES 2 1 2 e EF", "VADD k VALUES 2 1 2 e EF x",
			"VADD k VALUES 2 1 2 e SETATTR", "VADD k 2 1 2 e", "VADD k FP32 abcdefgh", "VADD k REDUCE x VALUES 1 1 e",
			"VADD k REDUCE 1 x", "MSET a 1", "MSET a 1 b 2", "MSET a", "MSET a 1 b", "SETNX k v", "SETNX k",
			"SETNX k v w", "INCR k", "INCR", "INCR k 1", "DECR k", "DECR k 1", "DECRBY k 5", "DECRBY k -5",
			"DECRBY k x", "DECRBY k", "DECRBY k 9223372036854775807", "DECRBY k -9223372036854775807",
			"DECRBY k -9223372036854775808", "RESTORE k 0", "RESTORE k -1 x", "RESTORE k x y", "RESTORE k 0 x BEST",
			"RESTORE k 0 x IDLETIME", "RESTORE k 0 x IDLETIME -1", "RESTORE k 0 x FREQ 256", "RESTORE k 0 x FREQ x",
			"RESTORE k 0 x IDLETIME 1 FREQ 1", "EVALSHA " + SHA + " 0", "EVALSHA " + SHA + " 1 k",
			"EVALSHA " + SHA + " 2 k", "EVALSHA " + SHA + " -1 k", "EVALSHA " + SHA + " x k", "EVALSHA " + SHA + " 1",
			"EVALSHA " + SHA })
	void invalidRecordsAreRefusedByRedisToo(String command) {
		assertThat(this.redis.scriptLoad("return 1")).isEqualTo(SHA);
		String[] words = command.split(" ");
		TestRedis.shared().assumeKnown(words[0]);
		Record record = record(words);
		if (record.rejection() == null) {
			assertThatCode(() -> TestRedis.shared().send(words)).doesNotThrowAnyException();
		}
		else {
			assertThat(record.rejection().code()).isEqualTo(Rejection.MALFORMED);
			assertThat(record.rejection().message()).startsWith(words[0]);
			assertThatExceptionOfType(RedisCommandExecutionException.class)
				.isThrownBy(() -> TestRedis.shared().send(words));
		}
	}

	@ParameterizedTest
	@CsvSource({ "SET k v EX 9000000000000001, 1 to 9000000000000000",
			"SET k v PX 9000000000000000001, 1 to 9000000000000000000",
			"SET k v EXAT 9000000000000001, 1 to 9000000000000000",
			"SET k v PXAT 9000000000000000001, 1 to 9000000000000000000",
			"EXPIRE k 9000000000000001, -9000000000000000 to 9000000000000000",
			"EXPIRE k -9000000000000001, -9000000000000000 to 9000000000000000",
			"PEXPIRE k 9000000000000000001, -9000000000000000000 to 9000000000000000000",
			"EXPIREAT k 9000000000000001, -9000000000000000 to 9000000000000000", "SETEX k 0 v, 1 to 9000000000000000",
			"PSETEX k x v, 1 to 9000000000000000000", "HEXPIRE k -1 FIELDS 1 f, 0 to 9000000000000000",
			"HSETEX k PX -1 FIELDS 1 f v, 0 to 9000000000000000000", "MSETEX 1 k v EX 0, 1 to 9000000000000000",
			"MSETEX 2 k v, 1 to 1", "SETRANGE k -1 v, 0 or more", "LMOVE a b LEFT UP, LEFT or RIGHT",
			"XTRIM k MAXLEN -1, 0 or more", "SET k v EX soon, 1 to 9000000000000000",
			"SET k v PX 0, 1 to 9000000000000000000" })
	void theMessageShowsTheRefusedTimeAndTheAllowedOnes(String command, String allowed) {
		Rejection rejection = record(command.split(" ")).rejection();
		assertThat(rejection).isNotNull();
		assertThat(rejection.message()).startsWith(command.substring(0, command.indexOf(" ")) + "'s")
			.contains(allowed)
			.containsPattern("not '[^']+'$");
	}

	/** The test servers do not have these modules. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			JSON.SET k $ 1         | REPEATABLE  |
			JSON.SET k . 1         | REPEATABLE  |
			JSON.SET k $.a 1       | CONDITIONAL |
			JSON.SET k $ 1 NX      | CONDITIONAL |
			JSON.SET k $ 1 xx      | CONDITIONAL |
			JSON.SET k $ 1 GT      |             | option 'GT'
			JSON.SET k $ 1 NX XX   |             | option 'NX'
			JSON.SET k $           |             | 3 arguments or more
			JSON.MSET k $ 1 l $ 2  | REPEATABLE  |
			JSON.MSET k $ 1 l $.a 2 | ONCE       |
			JSON.MSET k $ 1 l      |             | not 4 arguments
			TS.MADD k 1 2          | PARTS       |
			TS.MADD k * 2 l * 3    | PARTS       |
			TS.MADD k 1 2 l 3      |             | not 5 arguments
			""")
	void optionsOfModuleCommandsAreChecked(String command, Effect effect, String problem) {
		Record record = record(command.split(" "));
		if (problem == null) {
			assertThat(record.rejection()).isNull();
			assertThat(record.effect()).isEqualTo(effect);
		}
		else {
			assertThat(record.rejection()).isNotNull();
			assertThat(record.rejection().message()).startsWith(command.split(" ", -1)[0]).contains(problem);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET k v", "SET k v EX 10", "SET k v PXAT 33177117420000", "SET k v KEEPTTL", "HSET k f v",
			"HDEL k f", "DEL k", "UNLINK k", "EXPIRE k 10", "PERSIST k", "SADD k a", "SREM k a", "ZADD k 1 m",
			"ZADD k CH 1 m", "ZREM k m", "PFADD k a", "GEOADD k 13 38 a", "GEOADD k CH 13 38 a", "SETBIT k 7 1",
			"SETEX k 10 v", "PSETEX k 10000 v", "SETRANGE k 3 v", "PEXPIRE k 10000", "EXPIREAT k 33177117420",
			"EXPIREAT k 1", "PEXPIREAT k 33177117420000", "XTRIM k MAXLEN 1", "XTRIM k MINID = 2", "MSETEX 1 k v EX 10",
			"MSETEX 1 k v KEEPTTL", "HSETEX k EXAT 33177117420 FIELDS 2 f v g w", "HSETEX k KEEPTTL FIELDS 1 f v",
			"HEXPIRE k 0 FIELDS 1 f", "MSET k v l w" })
	void repeatingARepeatableRecordLeavesTheSameData(String command) {
		String[] words = command.split(" ");
		TestRedis.shared().assumeKnown(words[0]);
		assertThat(record(words).effect().isRepeatable()).isTrue();
		for (String before : List.of("DEL k", "SET k x", "HSET k f x", "SADD k b", "ZADD k 9 m", "GEOADD k 1 2 a",
				"XADD k 1-1 f v", "XADD k 3-3 f v")) {
			this.redis.flushall();
			tryToSend(before.split(" "));
			tryToSend(words);
			byte[] once = this.redis.dump("k");
			tryToSend(words);
			assertThat(this.redis.dump("k")).as("after %s", before).isEqualTo(once);
		}
	}

	@Test
	void restoreTakesOptionsAsRedisDoes() {
		this.redis.set("k", "v");
		byte[] dump = this.redis.dump("k");
		for (String options : new String[] { "", "REPLACE", "replace absttl", "IDLETIME 5 REPLACE", "REPLACE FREQ 255",
				"ABSTTL IDLETIME 0 REPLACE REPLACE" }) {
			Record record = new Record();
			record.begin(0);
			record.operation(Operation.RESTORE);
			CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8).add("k").add("0").add(dump);
			for (byte[] argument : new byte[][] { { 'k' }, { '0' }, dump }) {
				record.argument(argument, 0, argument.length);
			}
			for (String option : options.split(" ", -1)) {
				if (!option.isEmpty()) {
					record.argument(option.getBytes(StandardCharsets.UTF_8), 0, option.length());
					args.add(option);
				}
			}
			record.check();
			assertThat(record.rejection()).as(options).isNull();
			boolean replaces = !options.isEmpty();
			assertThat(record.effect().isRepeatable()).isEqualTo(replaces);
			assertThatCode(() -> {
				if (!replaces) {
					this.redis.del("k");
				}
				this.redis.dispatch(CommandType.RESTORE, new StatusOutput<>(StringCodec.UTF8), args);
			}).as(options).doesNotThrowAnyException();
			assertThat(this.redis.get("k")).isEqualTo("v");
		}
	}

	/**
	 * The graph of a vector set is different each time, so its dump cannot be compared.
	 */
	@Test
	void aRepeatedVectorLeavesTheSameElement() {
		TestRedis.shared().assumeKnown("VADD");
		String script = """
				local e = redis.call('VEMB', KEYS[1], 'e')
				return {redis.call('VCARD', KEYS[1]), redis.call('VGETATTR', KEYS[1], 'e'), e[1], e[2]}
				""";
		String[] words = "VADD k VALUES 2 1 2 e SETATTR {\"a\":1}".split(" ");
		assertThat(record(words).effect().isRepeatable()).isTrue();
		TestRedis.shared().send(words);
		List<Object> once = this.redis.eval(script, ScriptOutputType.MULTI, "k");
		TestRedis.shared().send(words);
		assertThat(this.redis.<List<Object>>eval(script, ScriptOutputType.MULTI, "k")).isEqualTo(once);
		assertThat(once).hasSize(4).startsWith(1L, "{\"a\":1}");
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET k v NX", "SET k v XX", "SET k v GET", "SET k v NX GET", "SET k v EX 5 XX GET",
			"RPOP k", "LPOP k 2", "LPUSH k a", "RPUSH k a", "EXPIRE k 10 NX", "EXPIRE k 10 XX", "EXPIRE k 10 GT",
			"EXPIRE k 10 LT", "ZADD k NX 1 m", "ZADD k XX 1 m", "ZADD k GT 1 m", "ZADD k LT 1 m", "ZADD k INCR 1 m",
			"XADD k * f v", "XADD k 1-1 f v", "XADD k NOMKSTREAM * f v", "INCRBY k 1", "HINCRBY k f 1",
			"GEOADD k NX 13 38 a", "GEOADD k XX 13 38 a", "EVALSHA " + SHA + " 1 k", "APPEND k v", "GETDEL k",
			"DELIFEQ k v", "INCRBYFLOAT k 1", "HINCRBYFLOAT k f 1", "HSETNX k f v", "HSETEX k FNX FIELDS 1 f v",
			"HSETEX k FXX FIELDS 1 f v", "HEXPIRE k 10 NX FIELDS 1 f", "MSETEX 1 k v NX", "MSETEX 1 k v XX EX 10",
			"PEXPIRE k 10 GT", "EXPIREAT k 10 NX", "PEXPIREAT k 10 LT", "COPY a b", "COPY a b REPLACE", "RENAME a b",
			"LMOVE a b LEFT LEFT", "SMOVE a b m", "ZINCRBY k 1 m", "SETNX k v", "INCR k", "DECR k", "DECRBY k 1",
			"RESTORE k 0 x", "RESTORE k 0 x ABSTTL", "XTRIM k MAXLEN ~ 5", "XTRIM k MINID ~ 5 LIMIT 10" })
	void recordsThatAddRemoveOrHaveConditionsAreNotRepeatable(String command) {
		assertThat(record(command.split(" ")).effect().isRepeatable()).isFalse();
	}

	@Test
	void aRecordDoesNotInheritTheEffectOfThePreviousOne() {
		Record record = new Record();
		fill(record, "SET", "k", "v", "NX");
		assertThat(record.effect()).isEqualTo(Effect.CONDITIONAL);
		fill(record, "SET", "k", "v");
		assertThat(record.effect()).isEqualTo(Effect.REPEATABLE);
	}

	@ParameterizedTest
	@ValueSource(strings = { "FLUSHALL", "flushAll", "KEYS", "CONFIG", "BLPOP", "MULTI", "EXEC", "SELECT", "SUBSCRIBE",
			"EVAL", "eval", "SCRIPT", "FCALL", "GET", "BLMOVE", "XREADGROUP", "JSON_SET", "JSON", "JSON.", "TS_MADD",
			"JSON.DEL", "SET ", " SET", "SE", "SETT", "", "SET\u0000", "\u017fET", "CLIENT", "DEBUG", "SHUTDOWN",
			"REPLICAOF", "MIGRATE", "HMSE", "HMSETT", "HMGET" })
	void otherNamesAreUnknown(String name) {
		assertThat(Operation.find(name)).isNull();
	}

	@ParameterizedTest
	@MethodSource("io.pipeset.record.Operation#values")
	void aNameIsFoundInAnyCase(Operation operation) {
		String name = operation.toString();
		assertThat(Operation.find(name)).isEqualTo(operation);
		assertThat(Operation.find(name.toLowerCase(Locale.ROOT))).isEqualTo(operation);
		assertThat(Operation.find(name.charAt(0) + name.substring(1).toLowerCase(Locale.ROOT))).isEqualTo(operation);
	}

	@Test
	void hmsetIsAnOldNameOfHset() {
		assertThat(Operation.find("HMSET")).isEqualTo(Operation.HSET);
		assertThat(Operation.find("hmSet")).isEqualTo(Operation.HSET);
	}

	@Test
	void theDocumentationHasTheSameRows() throws IOException {
		Map<String, String> repeats = Files.readAllLines(Path.of("docs/formats.md"))
			.stream()
			.filter((line) -> line.matches("\\| [A-Z.]+(, [A-Z.]+)* \\|.*"))
			.map((line) -> line.split(" *\\| *"))
			.flatMap((cells) -> Stream.of(cells[1].split(", ")).map((name) -> Map.entry(name, cells[3])))
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
		assertThat(repeats.keySet())
			.containsExactlyInAnyOrderElementsOf(Operation.values().stream().map(Operation::toString).toList());
		repeats.forEach((name, repeat) -> assertThat(repeat.startsWith("does no harm")).as(name)
			.isEqualTo(operation(name).effect().isRepeatable()));
	}

	/**
	 * An arity in the form of COMMAND INFO, which counts the name; a minimum is negative.
	 */
	private static long ofCommand(Arity arity) {
		return (arity.least() == arity.most()) ? arity.least() + 1 : -(arity.least() + 1);
	}

	private void tryToSend(String... words) {
		try {
			TestRedis.shared().send(words);
		}
		catch (RedisCommandExecutionException ex) {
			assertThat(ex).hasMessageStartingWith("WRONGTYPE");
		}
	}

	private static Record record(String... words) {
		Record record = new Record();
		fill(record, words);
		return record;
	}

	private static Operation operation(String name) {
		return Objects.requireNonNull(Operation.find(name), name);
	}

	private static List<String> keysOf(Record record) {
		return IntStream.range(0, record.keyCount())
			.mapToObj((key) -> record.text(record.command().keyPosition(key)))
			.toList();
	}

	private static void fill(Record record, String... words) {
		record.begin(0);
		record.operation(operation(words[0]));
		for (String word : Arrays.asList(words).subList(1, words.length)) {
			byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
			record.argument(bytes, 0, bytes.length);
		}
		record.check();
	}

}
