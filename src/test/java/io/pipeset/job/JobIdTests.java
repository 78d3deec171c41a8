package io.pipeset.job;

import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Ids tell when their jobs were asked for, and which of two came first. */
class JobIdTests {

	@Test
	void idsSortInTheOrderTheyWereMade() {
		long before = System.currentTimeMillis();
		List<String> ids = Stream.generate(JobId::next).limit(10_000).toList();
		long after = System.currentTimeMillis();
		assertThat(ids).isSorted().doesNotHaveDuplicates();
		assertThat(ids).map(UUID::fromString).allSatisfy((id) -> {
			assertThat(id.version()).isEqualTo(7);
			assertThat(id.variant()).isEqualTo(2);
		});
		// A millisecond has room for 4096.
		assertThat(UUID.fromString(ids.get(0)).getMostSignificantBits() >>> 16).isBetween(before, after + 3);
	}

}
