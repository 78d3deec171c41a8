package io.pipeset.keep;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

class SpooledRequestTests {

	private static final String REQUEST = """
			{"createdMillis":1,"bodyBytes":2,"encoding":"IDENTITY","format":"CSV",%s"settings":{}}""";

	@Test
	void theBodyKeepsItsCharset() throws Exception {
		assertThat(charset("\"charset\":\"windows-1252\",")).isEqualTo(Charset.forName("windows-1252"));
		assertThat(charset("")).isEqualTo(StandardCharsets.UTF_8);
		assertThatIOException().isThrownBy(() -> charset("\"charset\":\"none-such\","))
			.withMessageContaining("none-such");
	}

	private static Charset charset(String member) throws Exception {
		return JsonMapper.builder()
			.build()
			.readValue(REQUEST.formatted(member), SpooledRequest.class)
			.body(null)
			.charset();
	}

}
