package io.pipeset.input.source;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.pipeset.request.Client;
import io.pipeset.request.RefusedAccessException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class QuerySourcesTests {

	private static final String URL = "jdbc:postgresql://127.0.0.1/shop";

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
		assertParameters(URL, sql, parameters);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
			SELECT $$it's :no ?$$, :a                       | a
			SELECT $q$it's $$ :no$q$, :a, $x$ :b $y$        | a b
			SELECT a$b, :a, $1$ + :b + c$1$                 | a b
			SELECT E'it\\'s :no', :a, e'\\\\', :b, '''', :c | a b c
			SELECT '\\', :a, type'\\', :b, U&'\\', :c       | a b c
			SELECT a #> '{:no}', b # :a -- $$ :no           | a
			SELECT /* :no /* ? */ :no **/ :a, /**/ :b       | a b
			SELECT ":no$$", :a::text, "b""$$"               | a
			SELECT E'a''b\\':no' + :a, '?&', 'x&a'          | a
			""")
	void textsOfPostgresEndWhereItEndsThem(String sql, String parameters) {
		assertParameters(URL, sql, parameters);
		assertParameters("jdbc:duckdb:", sql, parameters);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
			SELECT 'it\\'s :no', :a, '\\\\', :b, '''', :c | a b c
			SELECT "it\\"s :no", :a, "\\\\", :b, ""\"", :c | a b c
			SELECT `:no\\`, :a, ```:no`, :b               | a b
			SELECT 1 # it's :no ?                         | -
			SELECT 1 -- it's :no ?                        | -
			SELECT 5--:a, /* it's :no */ :b               | a b
			SELECT a$$ + :a, b$$, $$ + :b                 | a b
			SELECT /* /* :no */ :a, '#', "#", :b          | a b
			""")
	void textsOfMariaDbEndWhereItEndsThem(String sql, String parameters) {
		assertParameters("jdbc:mariadb://127.0.0.1/shop", sql, parameters);
		assertParameters("jdbc:mysql://127.0.0.1/shop", sql, parameters);
	}

	@Test
	void aCommentOfMariaDbEndsWithItsLine() {
		assertParameters("jdbc:mariadb://127.0.0.1/shop", "SELECT :a # it's\n, :b --\n, :c -- it's", "a b c");
	}

	private static void assertParameters(String url, String sql, String parameters) {
		QuerySources queries = start(url, "products", sql);
		assertThat(queries.of(Client.SERVICE))
			.isEqualTo(Map.of("products", (parameters.equals("-")) ? List.of() : List.of(parameters.split(" ", -1))));
		queries.shutDown();
	}

	@Test
	void aQueryNeedsAName() {
		assertThatExceptionOfType(RefusedAccessException.class).isThrownBy(() -> start(URL, "Products", "SELECT 1"))
			.withMessage("pipeset.sources.queries has the name 'Products'.");
	}

	private static void start(String sql) {
		start(URL, "products", sql);
	}

	private static QuerySources start(String url, String name, String sql) {
		SourceProperties.Query query = new SourceProperties.Query(url, null, null, sql, 1000, Duration.ZERO, 2);
		return new QuerySources(new SourceProperties(List.of(), Duration.ofMinutes(1), Map.of(name, query)));
	}

}
