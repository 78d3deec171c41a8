package io.pipeset.keyspace;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

import io.pipeset.record.room.Room;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A table of prefixes adds every key up once, and lists the largest prefixes, however
 * many there are.
 */
class PrefixTableTests {

	private static final int STRING = 1;

	@Test
	void aFewPrefixesAreExact() {
		PrefixTable table = new PrefixTable(10, true, Room.UNLIMITED);
		count(table, "user:", 10);
		count(table, "user:", 20);
		count(table, "cart:", 5);
		table.count(new byte[0], 0, -1, 5, 7, false);
		table.finish();
		assertThat(keys(table)).containsOnly(Map.entry("user:", 2L), Map.entry("cart:", 1L));
		assertThat(table.keys(PrefixTable.NONE)).isOne();
		assertThat(table.bytes(PrefixTable.NONE)).isEqualTo(7);
		assertThat(table.withoutTtl(PrefixTable.NONE)).isZero();
		assertThat(table.keysOfType(PrefixTable.NONE, 5)).isOne();
		assertThat(table.keys(PrefixTable.OTHER)).isZero();
		assertThat(table.omitted()).isZero();
	}

	@Test
	void theSmallestAreAddedUp() {
		PrefixTable table = new PrefixTable(2, true, Room.UNLIMITED);
		count(table, "a:", 10);
		count(table, "b:", 30);
		count(table, "c:", 20);
		count(table, "d:", 20);
		table.finish();
		assertThat(keys(table)).hasSize(2).containsKey("b:").doesNotContainKey("a:");
		assertThat(table.omitted()).isEqualTo(2);
		assertThat(table.keys(PrefixTable.OTHER)).isEqualTo(2);
		assertThat(table.bytes(PrefixTable.OTHER)).isEqualTo(30);
		assertThat(table.keysOfType(PrefixTable.OTHER, STRING)).isEqualTo(2);
		assertThat(table.withoutTtl(PrefixTable.OTHER)).isEqualTo(2);
	}

	@Test
	void theFrequentOnesAreListedAndSayWhereTheyAreOnlyAPart() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		PrefixTable table = new PrefixTable(500, false, Room.UNLIMITED);
		Map<String, Long> expected = new HashMap<>();
		for (int key = 0; key < 200_000; key++) {
			// A few are frequent, and many come once or twice.
			String prefix = (random.nextInt(10) < 3) ? "often" + random.nextInt(100) + ":"
					: "rare" + random.nextInt(100_000) + ":";
			expected.merge(prefix, 1L, Long::sum);
			count(table, prefix, 0);
		}
		table.finish();
		Map<String, Long> keys = keys(table);
		assertThat(keys).as("seed %d", seed).hasSize(500);
		for (int row = 2; row < table.rows(); row++) {
			long all = expected.get(prefix(table, row));
			assertThat(table.keys(row)).as("seed %d", seed).isBetween((table.isPartial(row)) ? 1 : all, all);
		}
		assertThat(keys.keySet().stream().filter((prefix) -> prefix.startsWith("often"))).as("seed %d", seed)
			.hasSize(100);
		long listed = keys.values().stream().mapToLong(Long::longValue).sum();
		assertThat(table.keys(PrefixTable.OTHER)).as("seed %d", seed).isEqualTo(200_000 - listed);
		assertThat(table.keysOfType(PrefixTable.OTHER, STRING)).isEqualTo(200_000 - listed);
		assertThat(table.omitted()).as("seed %d", seed)
			.isBetween((long) (0.97 * (expected.size() - 500)), (long) expected.size() - 500);
	}

	@Test
	void longPrefixesAreBoundedByTheirBytes() {
		PrefixTable table = new PrefixTable(10, false, Room.UNLIMITED);
		count(table, "x".repeat(1_000_000) + ":", 1);
		count(table, "x".repeat(1_000_000) + ":", 1);
		for (int prefix = 0; prefix < 1000; prefix++) {
			count(table, prefix + "x".repeat(4000) + ":", 1);
		}
		table.finish();
		assertThat(keys(table)).hasSizeLessThanOrEqualTo(10).doesNotContainKey("x".repeat(1_000_000) + ":");
		assertThat(table.index().text().length).isLessThanOrEqualTo(64 << 10);
		assertThat(keys(table).size() + table.keys(PrefixTable.OTHER)).isEqualTo(1002);
	}

	@Test
	void withoutMemoryTheTableStaysSmall() {
		PrefixTable table = new PrefixTable(100_000, false, new Room() {

			private long left = 100_000;

			@Override
			public boolean tryTake(long bytes) {
				boolean free = bytes <= this.left;
				this.left -= (free) ? bytes : 0;
				return free;
			}

			@Override
			public void take(long bytes) {
				throw new AssertionError();
			}

			@Override
			public void give(long bytes) {
				this.left += bytes;
				assertThat(this.left).isLessThanOrEqualTo(100_000);
			}

			@Override
			public boolean isScarce() {
				return true;
			}

		});
		for (int prefix = 0; prefix < 100_000; prefix++) {
			count(table, "prefix" + prefix + ":", 1);
		}
		table.finish();
		assertThat(keys(table)).hasSizeBetween(50, 1000);
		assertThat(keys(table).size() + table.keys(PrefixTable.OTHER)).isEqualTo(100_000);
		table.clear();
		assertThat(keys(table)).isEmpty();
		assertThat(table.keys(PrefixTable.OTHER)).isZero();
		assertThat(table.omitted()).isZero();
		count(table, "a:", 1);
		assertThat(keys(table)).containsOnly(Map.entry("a:", 1L));
		assertThat(table.keysOfType(2, STRING)).isOne();
	}

	private static void count(PrefixTable table, String prefix, long size) {
		byte[] key = ("<" + prefix + "rest").getBytes(StandardCharsets.UTF_8);
		table.count(key, 1, 1 + prefix.length(), STRING, size, true);
	}

	private static Map<String, Long> keys(PrefixTable table) {
		Map<String, Long> keys = new HashMap<>();
		for (int row = 2; row < table.rows(); row++) {
			String prefix = prefix(table, row);
			assertThat(keys.put(prefix, table.keys(row))).as(prefix).isNull();
		}
		return keys;
	}

	private static String prefix(PrefixTable table, int row) {
		return new String(table.index().text(), table.index().start(row),
				table.index().end(row) - table.index().start(row), StandardCharsets.UTF_8);
	}

}
