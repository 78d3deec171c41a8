package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.TreeSet;

import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.memory.MemoryReservation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Jitter spreads times to live evenly over its percentage. */
class TtlJitterTests {

	@ParameterizedTest
	@CsvSource({ "1, 50, 1, 1", "2, 50, 1, 3", "5, 10, 5, 5", "10, 10, 9, 11", "60, 50, 30, 90", "3600, 1, 3564, 3636",
			"100, 0, 100, 100" })
	void jitterReachesExactlyTheSecondsWithinItsPercentage(long ttl, int percent, long least, long most) {
		SplittableRandom random = new SplittableRandom(7);
		TreeSet<Long> met = new TreeSet<>();
		for (int i = 0; i < 10_000; i++) {
			met.add(Ttl.withJitter(ttl, percent, random));
		}
		assertThat(met.first()).isEqualTo(least);
		assertThat(met.last()).isEqualTo(most);
		assertThat(met).hasSize((int) (most - least + 1));
	}

	@Test
	void jitterNeverExceedsTheLargestTime() {
		SplittableRandom random = new SplittableRandom(7);
		for (int i = 0; i < 10_000; i++) {
			assertThat(Ttl.withJitter(Expiry.MAX_SECONDS, 50, random)).isBetween(Expiry.MAX_SECONDS / 2,
					Expiry.MAX_SECONDS);
		}
	}

	@ParameterizedTest
	@CsvSource({ "SET, 3", "HSET, 3" })
	void aRecordIsSentWithItsOwnTimeToLive(Operation operation, int place) {
		Record record = new Record(new RecordDefaults(1000L, null, null, 10, Encoding.UTF8),
				MemoryReservation.UNLIMITED);
		TreeSet<Long> sent = new TreeSet<>();
		for (int i = 0; i < 1000; i++) {
			record.begin(0);
			record.operation(operation);
			for (int argument = (operation == Operation.SET) ? 1 : 0; argument < 3; argument++) {
				record.argument(new byte[] { 'a' }, 0, 1);
			}
			record.check();
			assertThat(record.rejection()).isNull();
			sent.add(record.number(place));
		}
		assertThat(sent.first()).isGreaterThanOrEqualTo(900);
		assertThat(sent.last()).isLessThanOrEqualTo(1100);
		assertThat(sent).hasSizeGreaterThan(1);
	}

	@Test
	void jitterChangesTheRecordsTimeToLiveButNotItsOptions() {
		Record record = new Record(new RecordDefaults(null, null, null, 50, Encoding.UTF8),
				MemoryReservation.UNLIMITED);
		byte[] ttl = "1h".getBytes(StandardCharsets.US_ASCII);
		TreeSet<Long> sent = new TreeSet<>();
		for (int i = 0; i < 1000; i++) {
			record.begin(0);
			record.operation(Operation.SET);
			record.argument(ttl, 0, 1);
			record.argument(ttl, 0, 1);
			assertThat(record.ttl(ttl, 0, ttl.length)).isTrue();
			record.check();
			sent.add(record.number(3));
		}
		assertThat(sent.first()).isGreaterThanOrEqualTo(1800);
		assertThat(sent.last()).isLessThanOrEqualTo(5400);
		assertThat(sent).hasSizeGreaterThan(1);
		record.begin(0);
		record.operation(Operation.SET);
		for (String argument : new String[] { "k", "v", "EX", "3600" }) {
			byte[] bytes = argument.getBytes(StandardCharsets.US_ASCII);
			record.argument(bytes, 0, bytes.length);
		}
		record.check();
		assertThat(record.text(3)).isEqualTo("3600");
	}

}
