package io.pipeset.request;

import java.net.URI;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** A URL that only looks as if it were under a prefix is not under it. */
class UrlPrefixesTests {

	@ParameterizedTest
	@CsvSource({ "https://good.example, https://good.example", "https://good.example, https://good.example/a?b=c",
			"https://good.example/, https://good.example", "https://good.example, HTTPS://GOOD.example:443/a",
			"https://good.example:443, https://good.example/a", "http://good.example:80, http://good.example",
			"https://good.example/hooks, https://good.example/hooks",
			"https://good.example/hooks, https://good.example/hooks/",
			"https://good.example/hooks/, " + "https://good.example/hooks/a/b",
			"https://good.example/hooks, https://good.example/hooks?x=/../y", "http://[::1]:8080, http://[::1]:8080/a",
			"https://good.example, https://good.example/...", "https://good.example, https://good.example/a..b/.c/d." })
	void aUrlUnderAPrefix(String prefix, String url) {
		assertThat(contains(prefix, url)).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "https://good.example, https://good.example.evil.com",
			"https://good.example, https://good.example@evil.com",
			"https://good.example, https://evil.com/good.example", "https://good.example, http://good.example",
			"https://good.example, https://good.example:8443", "https://good.example, https://sub.good.example",
			"https://good.example, https://good.example.", "https://good.example, https://evil.com\\@good.example",
			"https://good.example, https://good.example:80:443", "https://good.example, https://evil.com#@good.example",
			"https://good.example, //good.example", "https://good.example, https:good.example",
			"https://good.example, 'https://good.example '", "https://good.example, https://good.examp\u0142e",
			"https://good.example, ftp://good.example", "https://good.example/hooks, https://good.example/hooks2",
			"https://good.example/hooks, https://good.example",
			"https://good.example/hooks/, https://good.example/hooks",
			"https://good.example/hooks, https://good.example/Hooks",
			"https://good.example/hooks, https://good.example/hooks/..",
			"https://good.example/hooks, https://good.example/hooks/../admin",
			"https://good.example/hooks, https://good.example/hooks/./a",
			"https://good.example/hooks, https://good.example/hooks/%2e%2e/admin",
			"https://good.example/hooks, https://good.example/hooks/.%2E/admin",
			"https://good.example/hooks, https://good.example/hooks/%252e%252e/admin",
			"https://good.example/hooks, https://good.example/hooks/..;x/admin",
			"https://good.example/hooks, https://good.example/hooks/..%2fadmin",
			"https://good.example/hooks, https://good.example/hooks%2f../admin",
			"https://good.example/hooks, https://good.example/hooks/..%5Cadmin",
			"https://good.example/hooks, https://good.example/hooks/a%5c..%5cadmin",
			"https://good.example/hooks, https://good.example/hooks/..\\admin" })
	void aUrlThatLooksLikeOne(String prefix, String url) {
		assertThat(contains(prefix, url)).isFalse();
	}

	private static boolean contains(String prefix, String url) {
		URI parsed = UrlPrefixes.parse(url);
		return parsed != null && UrlPrefixes.of(List.of("http://other.example", prefix)).contain(parsed);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "good.example", "https://", "https:///a", "https://user@good.example",
			"https://good.example?a=b", "https://good.example/#a", "https://good.example/a/../b",
			"https://good.example:99999", "https://good.example:0", "*" })
	void aTextThatIsNoPrefixIsRefusedAndNotQuoted(String prefix) {
		assertThatIllegalArgumentException().isThrownBy(() -> UrlPrefixes.of(List.of(prefix)))
			.withMessageStartingWith("must be an absolute http or https URL")
			.withMessageNotContaining("example");
	}

	@Test
	void aUrlHasABoundedLength() {
		String url = "https://good.example/" + "a".repeat(1979);
		assertThat(UrlPrefixes.parse(url)).hasToString(url);
		assertThat(UrlPrefixes.parse(url + "a")).isNull();
	}

	@Test
	void noPrefixMeansNoUrl() {
		assertThat(UrlPrefixes.NONE.contain(URI.create("http://a"))).isFalse();
		assertThat(UrlPrefixes.of(List.of()).isEmpty()).isTrue();
		assertThat(UrlPrefixes.ANY.contain(URI.create("http://a/.."))).isTrue();
	}

}
