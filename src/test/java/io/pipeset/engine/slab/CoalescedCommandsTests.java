package io.pipeset.engine.slab;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Neighbouring records go as one command if Redis can run them as one. */
class CoalescedCommandsTests {

	private static final Coalescing ALL = new Coalescing(true, true);

	/** The same for a server with MSETEX. */
	private static final Coalescing EXPIRING = new Coalescing(true, true, true, true);

	private final FilledSlabs slabs = new FilledSlabs();

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			SET a 1,SET b 2                     | MSET a 1 b 2
			SET a 1,SET a 2                     | MSET a 1 a 2
			RPOP q,RPOP q,RPOP q                | RPOP q 3
			LPOP q,LPOP q                       | LPOP q 2
			LPUSH q a,LPUSH q b c               | LPUSH q a b c
			RPUSH q a,RPUSH q b                 | RPUSH q a b
			SADD s a,SADD s b                   | SADD s a b
			SREM s a b,SREM s c                 | SREM s a b c
			HSET h f 1,HSET h g 2 h 3           | HSET h f 1 g 2 h 3
			HDEL h f,HDEL h g                   | HDEL h f g
			ZADD z 1 a,ZADD z -2.5 b 30 c       | ZADD z 1 a -2.5 b 30 c
			ZREM z a,ZREM z b                   | ZREM z a b
			PFADD p a,PFADD p,PFADD p b         | PFADD p a b
			DEL a,DEL b                         | DEL a b
			UNLINK a,UNLINK a                   | UNLINK a a
			SET a 1,SET b 2,GEOADD g 1 2 m,SET c 3,SET d 4 | MSET a 1 b 2,GEOADD g 1 2 m,MSET c 3 d 4
			SADD s a,SADD t a,SADD t b,SREM t b | SADD s a,SADD t a b,SREM t b
			LPUSH q a,LPUSH qq a,LPUSH q a      | LPUSH q a,LPUSH qq a,LPUSH q a
			""")
	void areMadeOfNeighbouringRecords(String records, String commands) {
		assertThat(FilledSlabs.coalesced(slab(records), ALL)).isEqualTo(commands);
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET a 1 EX 5,SET b 2 EX 5", "SET a 1 NX,SET b 2 NX", "SET a 1,SET b 2 KEEPTTL",
			"RPOP q 2,RPOP q 2", "RPOP q,LPOP q", "DEL a b,DEL c d", "ZADD z NX 1 a,ZADD z NX 2 b",
			"ZADD z CH 1 a,ZADD z CH 2 b", "ZADD z 1 a,ZADD z one b", "ZADD z 1. a,ZADD z .5 b",
			"ZADD z inf a,ZADD z +1 b", "ZADD z 0x1 a,ZADD z - b", "INCRBY n 1,INCRBY n 1",
			"XADD x 1-1 f 1,XADD x 1-2 f 2", "PERSIST k,PERSIST k", "EXPIRE k 5,EXPIRE k 5",
			"SETBIT b 1 1,SETBIT b 2 1", "GEOADD g 1 2 a,GEOADD g 1 2 b" })
	void areNotMadeOfRecordsThatRedisCannotRunAsOne(String records) {
		assertThat(FilledSlabs.coalesced(slab(records), ALL)).isEqualTo(records);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			SET a 1 EX 5,SET b 2 EX 5                 | MSETEX 2 a 1 b 2 EX 5
			SET a 1 PX 5,SET a 2 PX 5,SET c 3 PX 5    | MSETEX 3 a 1 a 2 c 3 PX 5
			SET a 1 EXAT 33177117420,SET b 2 EXAT 33177117420 | MSETEX 2 a 1 b 2 EXAT 33177117420
			SET a 1 PXAT 33177117420,SET b 2 PXAT 33177117420 | MSETEX 2 a 1 b 2 PXAT 33177117420
			SET a 1 EX 5,SET b 2 EX 6,SET c 3 EX 6    | SET a 1 EX 5,MSETEX 2 b 2 c 3 EX 6
			SET a 1 EX 5,SET b 2 EX 55,SET c 3 PX 55  | SET a 1 EX 5,SET b 2 EX 55,SET c 3 PX 55
			SET a 1,SET b 2,SET c 3 EX 5,SET d 4 EX 5,SET e 5,SET f 6 | MSET a 1 b 2,MSETEX 2 c 3 d 4 EX 5,MSET e 5 f 6
			SET a 1,SET b 2 EX 5                      | SET a 1,SET b 2 EX 5
			SET a 1 EX 5,SET b 2 EX 5 NX              | SET a 1 EX 5,SET b 2 EX 5 NX
			SET a 1 EX 5 NX,SET b 2 EX 5 NX           | SET a 1 EX 5 NX,SET b 2 EX 5 NX
			SET a 1 NX GET,SET b 2 NX GET             | SET a 1 NX GET,SET b 2 NX GET
			SET a 1 KEEPTTL KEEPTTL,SET b 2 KEEPTTL KEEPTTL | SET a 1 KEEPTTL KEEPTTL,SET b 2 KEEPTTL KEEPTTL
			SET a 1 KEEPTTL,SET b 2 KEEPTTL           | SET a 1 KEEPTTL,SET b 2 KEEPTTL
			""")
	void areMadeOfSetsWithOneExpiryIfTheServerHasMsetex(String records, String commands) {
		assertThat(FilledSlabs.coalesced(slab(records), EXPIRING)).isEqualTo(commands);
		assertThat(FilledSlabs.coalesced(slab(records), EXPIRING.inCluster())).isEqualTo(records);
	}

	@Test
	void areNotMadeOfSetsThatAreNoSlowerOneByOne() {
		String records = "SET a 1,SET b 2,SET c 3 EX 5,SET d 4 EX 5,DEL a,DEL b";
		assertThat(FilledSlabs.coalesced(slab(records), new Coalescing(true, true, false, false)))
			.isEqualTo("SET a 1,SET b 2,SET c 3 EX 5,SET d 4 EX 5,DEL a b");
		assertThat(FilledSlabs.coalesced(slab(records), new Coalescing(true, true, true, false)))
			.isEqualTo("MSET a 1 b 2,SET c 3 EX 5,SET d 4 EX 5,DEL a b");
		assertThat(new Coalescing(false, true, true, true)).isEqualTo(new Coalescing(false, true));
	}

	@Test
	void areNotMadeIfTheConnectionDoesNotAllowThem() {
		String keys = "SET a 1,SET b 2,DEL a,DEL b,UNLINK a,UNLINK b";
		assertThat(FilledSlabs.coalesced(slab(keys), new Coalescing(false, true))).isEqualTo(keys);
		String pops = "RPOP q,RPOP q,LPOP q,LPOP q";
		assertThat(FilledSlabs.coalesced(slab(pops), new Coalescing(true, false))).isEqualTo(pops);
		assertThat(FilledSlabs.coalesced(slab("LPUSH q a,LPUSH q b"), new Coalescing(false, false)))
			.isEqualTo("LPUSH q a b");
	}

	@Test
	void areNotMadeIfTheirReplyDoesNotGiveTheReplyToEachRecord() {
		for (String records : List.of("SADD s a,SADD s b", "HSET h f 1,HSET h g 2", "ZADD z 1 a,ZADD z 2 b",
				"DEL a,DEL b", "PFADD p a,PFADD p b", "HDEL h f,HDEL h g", "SREM s a,SREM s b", "ZREM z a,ZREM z b")) {
			assertThat(FilledSlabs.coalesced(this.slabs.slab(records.split(",", -1)), ALL)).isEqualTo(records);
		}
		assertThat(FilledSlabs.coalesced(this.slabs.slab("SET a 1", "SET b 2"), ALL)).isEqualTo("MSET a 1 b 2");
	}

	@Test
	void haveAHundredRecordsAtMost() {
		String[] pushes = IntStream.range(0, 250).mapToObj((i) -> "LPUSH q " + i).toArray(String[]::new);
		List<Integer> words = new ArrayList<>();
		for (String command : FilledSlabs.coalesced(slab(String.join(",", pushes)), ALL).split(",", -1)) {
			words.add(command.split(" ", -1).length);
		}
		assertThat(words).containsExactly(102, 102, 52);
	}

	@Test
	void haveAtMost64Kilobytes() {
		String value = "v".repeat(30_000);
		String records = "SET a " + value + ",SET b " + value + ",SET c " + value + ",SET d " + value;
		assertThat(FilledSlabs.coalesced(slab(records), ALL))
			.isEqualTo("MSET a " + value + " b " + value + ",MSET c " + value + " d " + value);
	}

	private Slab slab(String records) {
		return this.slabs.unlisted(records.split(",", -1));
	}

}
