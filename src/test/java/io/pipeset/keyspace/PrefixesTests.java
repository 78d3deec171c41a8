package io.pipeset.keyspace;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

import io.pipeset.record.memory.CountedReservation;
import io.pipeset.record.memory.MemoryReservation;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Prefixes count every key exactly once and list the largest prefixes, however many there
 * are.
 */
class PrefixesTests {

	private static final int STRING = 1;

	@Test
	void aFewPrefixesAreExact() {
		Prefixes prefixes = new Prefixes(10, true, MemoryReservation.UNLIMITED);
		count(prefixes, "user:", 10);
		count(prefixes, "user:", 20);
		count(prefixes, "cart:", 5);
		prefixes.of(new byte[0], 0, -1).count(5, 7, false);
		prefixes.finish();
		assertThat(keys(prefixes)).containsOnly(Map.entry("user:", 2L), Map.entry("cart:", 1L));
		assertThat(prefixes.none().keys()).isOne();
		assertThat(prefixes.none().bytes()).isEqualTo(7);
		assertThat(prefixes.none().withoutTtl()).isZero();
		assertThat(prefixes.none().keysOfType(5)).isOne();
		assertThat(prefixes.others().keys()).isZero();
		assertThat(prefixes.omitted()).isZero();
	}

	@Test
	void smallestPrefixesAreAddedToOthers() {
		Prefixes prefixes = new Prefixes(2, true, MemoryReservation.UNLIMITED);
		count(prefixes, "a:", 10);
		count(prefixes, "b:", 30);
		count(prefixes, "c:", 20);
		count(prefixes, "d:", 20);
		prefixes.finish();
		assertThat(keys(prefixes)).hasSize(2).containsKey("b:").doesNotContainKey("a:");
		assertThat(prefixes.omitted()).isEqualTo(2);
		assertThat(prefixes.others().keys()).isEqualTo(2);
		assertThat(prefixes.others().bytes()).isEqualTo(30);
		assertThat(prefixes.others().keysOfType(STRING)).isEqualTo(2);
		assertThat(prefixes.others().withoutTtl()).isEqualTo(2);
	}

	@Test
	void frequentPrefixesAreListedAndMarkedIfPartial() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		Prefixes prefixes = new Prefixes(500, false, MemoryReservation.UNLIMITED);
		Map<String, Long> expected = new HashMap<>();
		for (int key = 0; key < 200_000; key++) {
			// A few are frequent, and many come once or twice.
			String prefix = (random.nextInt(10) < 3) ? "often" + random.nextInt(100) + ":"
					: "rare" + random.nextInt(100_000) + ":";
			expected.merge(prefix, 1L, Long::sum);
			count(prefixes, prefix, 0);
		}
		prefixes.finish();
		Map<String, Long> keys = keys(prefixes);
		assertThat(keys).as("seed %d", seed).hasSize(500);
		prefixes.listed().forEach((totals) -> {
			long all = expected.get(text(totals));
			assertThat(totals.keys()).as("seed %d", seed).isBetween((totals.isPartial()) ? 1 : all, all);
		});
		assertThat(keys.keySet().stream().filter((prefix) -> prefix.startsWith("often"))).as("seed %d", seed)
			.hasSize(100);
		long listed = keys.values().stream().mapToLong(Long::longValue).sum();
		assertThat(prefixes.others().keys()).as("seed %d", seed).isEqualTo(200_000 - listed);
		assertThat(prefixes.others().keysOfType(STRING)).isEqualTo(200_000 - listed);
		assertThat(prefixes.omitted()).as("seed %d", seed)
			.isBetween((long) (0.97 * (expected.size() - 500)), (long) expected.size() - 500);
	}

	@Test
	void longPrefixesAreBoundedByTheirBytes() {
		Prefixes prefixes = new Prefixes(10, false, MemoryReservation.UNLIMITED);
		count(prefixes, "x".repeat(1_000_000) + ":", 1);
		count(prefixes, "x".repeat(1_000_000) + ":", 1);
		for (int prefix = 0; prefix < 1000; prefix++) {
			count(prefixes, prefix + "x".repeat(4000) + ":", 1);
		}
		prefixes.finish();
		assertThat(keys(prefixes)).hasSizeLessThanOrEqualTo(10).doesNotContainKey("x".repeat(1_000_000) + ":");
		assertThat(prefixes.textBytes()).isLessThanOrEqualTo(64 << 10);
		assertThat(keys(prefixes).size() + prefixes.others().keys()).isEqualTo(1002);
	}

	@Test
	void withLittleMemoryFewPrefixesRemain() {
		Prefixes prefixes = new Prefixes(100_000, false, new MemoryReservation() {

			private long left = 100_000;

			@Override
			public boolean tryReserve(long bytes) {
				boolean free = bytes <= this.left;
				this.left -= (free) ? bytes : 0;
				return free;
			}

			@Override
			public void reserve(long bytes) {
				throw new AssertionError();
			}

			@Override
			public void release(long bytes) {
				this.left += bytes;
				assertThat(this.left).isLessThanOrEqualTo(100_000);
			}

			@Override
			public boolean isScarce() {
				return true;
			}

		});
		for (int prefix = 0; prefix < 100_000; prefix++) {
			count(prefixes, "prefix" + prefix + ":", 1);
		}
		prefixes.finish();
		assertThat(keys(prefixes)).hasSizeBetween(50, 1000);
		assertThat(keys(prefixes).size() + prefixes.others().keys()).isEqualTo(100_000);
		prefixes.clear();
		assertThat(keys(prefixes)).isEmpty();
		assertThat(prefixes.others().keys()).isZero();
		assertThat(prefixes.omitted()).isZero();
		count(prefixes, "a:", 1);
		assertThat(keys(prefixes)).containsOnly(Map.entry("a:", 1L));
		assertThat(prefixes.listed()).allMatch((totals) -> totals.keysOfType(STRING) == 1);
	}

	@Test
	void withMemoryForOnePrefixTheLastOneRemains() {
		CountedReservation reservation = new CountedReservation(300);
		Prefixes prefixes = new Prefixes(10, true, reservation);
		count(prefixes, "a:", 1);
		count(prefixes, "b:", 1);
		count(prefixes, "c".repeat(100), 1);
		assertThat(prefixes.listed()).isEmpty();
		count(prefixes, "a:", 1);
		assertThat(prefixes.listed()).allMatch(PrefixTotals::isPartial);
		assertThat(keys(prefixes)).containsOnly(Map.entry("a:", 1L));
		assertThat(prefixes.others().keys()).isEqualTo(3);
		assertThat(prefixes.omitted()).isEqualTo(2);
		prefixes.clear();
		assertThat(reservation.held().get()).isZero();
	}

	private static void count(Prefixes prefixes, String prefix, long size) {
		byte[] key = ("<" + prefix + "rest").getBytes(StandardCharsets.UTF_8);
		prefixes.of(key, 1, 1 + prefix.length()).count(STRING, size, true);
	}

	private static Map<String, Long> keys(Prefixes prefixes) {
		Map<String, Long> keys = new HashMap<>();
		prefixes.listed().forEach((totals) -> assertThat(keys.put(text(totals), totals.keys())).isNull());
		return keys;
	}

	private static String text(PrefixTotals totals) {
		return new String(totals.prefix(), StandardCharsets.UTF_8);
	}

}
