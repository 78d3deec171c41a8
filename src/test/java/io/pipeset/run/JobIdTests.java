package io.pipeset.run;

import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Ids sort by the time and the order of their creation. */
class JobIdTests {

	@Test
	void idsSortInTheOrderOfTheirCreation() {
		long before = System.currentTimeMillis();
		List<String> ids = Stream.generate(JobId::next).limit(10_000).toList();
		long after = System.currentTimeMillis();
		assertThat(ids).isSorted().doesNotHaveDuplicates();
		assertThat(ids).map(UUID::fromString).allSatisfy((id) -> {
			assertThat(id.version()).isEqualTo(7);
			assertThat(id.variant()).isEqualTo(2);
		});
		// Each millisecond has 4096 ids.
		assertThat(UUID.fromString(ids.get(0)).getMostSignificantBits() >>> 16).isBetween(before, after + 3);
	}

}
