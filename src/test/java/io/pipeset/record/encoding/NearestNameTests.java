package io.pipeset.record.encoding;

import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The message about an unknown name suggests the name that the caller meant. */
class NearestNameTests {

	private static final List<String> KNOWN = List.of("batchSize", "concurrency", "ttl", "ttlJitter", "SETBIT", "SET",
			"HSET", "RPUSH");

	@ParameterizedTest
	@CsvSource(nullValues = "none",
			value = { "batchsize, batchSize", "batch, batchSize", "concurency, concurrency", "tll, ttl",
					"ttlji, ttlJitter", "STE, none", "SETS, SET", "hset, HSET", "LPUSH, RPUSH", "x, none",
					"FLUSHALL, none", "concurrency-of-all-the-lanes, none" })
	void theNearestNameIsFound(String name, String nearest) {
		assertThat(NearestName.of(name, KNOWN)).isEqualTo(nearest);
	}

}
