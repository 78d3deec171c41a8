package io.pipeset.job.source;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.pipeset.job.Client;
import io.pipeset.job.RefusedAccessException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class QuerySourcesTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
			SELECT tags[1:2] FROM t              | '2' after ':' or '&', which is no name of a parameter.
			SELECT flags &mask FROM t            | 'mask' after ':' or '&', which is no name of a parameter.
			SELECT flags&a FROM t WHERE a = :a   | 'a' after ':' or '&', which is no name of a parameter.
			SELECT * FROM t WHERE a ?& :b        | .sql has a '?'.
			SELECT * FROM t WHERE a = ?          | .sql has a '?'.
			SELECT * FROM t WHERE a ? 'b'        | .sql has a '?'.
			SELECT * FROM t WHERE a = :a and b ? | .sql has a '?'.
			""")
	void whatIsNoParameterFailsTheStart(String sql, String reason) {
		assertThatExceptionOfType(RefusedAccessException.class).isThrownBy(() -> start(sql))
			.withMessageStartingWith("pipeset.sources.queries.products.sql has ")
			.withMessageEndingWith(reason);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
			SELECT a::text, tags[1\\:2] FROM t WHERE a = :since | since
			SELECT * FROM t WHERE a ?? 'b' AND b & 3 = 1        | -
			SELECT ':no', '?' FROM t -- :no ?                   | -
			SELECT * FROM t WHERE a = :a OR b = :b OR c = :a          | a b
			""")
	void parametersAreThoseAfterAColon(String sql, String parameters) {
		QuerySources queries = start("products", sql);
		assertThat(queries.of(Client.SERVICE))
			.isEqualTo(Map.of("products", (parameters.equals("-")) ? List.of() : List.of(parameters.split(" ", -1))));
		queries.shutDown();
	}

	@Test
	void aQueryNeedsAName() {
		assertThatExceptionOfType(RefusedAccessException.class).isThrownBy(() -> start("Products", "SELECT 1"))
			.withMessage("pipeset.sources.queries has the name 'Products'.");
	}

	private static void start(String sql) {
		start("products", sql);
	}

	private static QuerySources start(String name, String sql) {
		SourceProperties.Query query = new SourceProperties.Query("jdbc:postgresql://127.0.0.1/shop", null, null, sql,
				1000, Duration.ZERO, 2);
		return new QuerySources(new SourceProperties(List.of(), Duration.ofMinutes(1), Map.of(name, query)));
	}

}
