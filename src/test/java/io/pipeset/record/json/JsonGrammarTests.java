package io.pipeset.record.json;

import java.io.IOException;

import io.pipeset.record.Rejection;
import io.pipeset.record.format.Snapshot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class JsonGrammarTests {

	@ParameterizedTest
	@ValueSource(strings = { "0", "-0", "7", "-12", "1.0", "0.10", "1e5", "1E+05", "1.25e-7",
			"123456789012345678901234567890" })
	void numberIsStoredAsItIsWritten(String number) {
		assertThat(setTo(number).arguments()).containsExactly("k", number);
		assertThat(setTo(" [ " + number + " ] ").arguments()).containsExactly("k", "[" + number + "]");
	}

	@ParameterizedTest
	@ValueSource(strings = { "01", "-", "-01", "+1", ".5", "1.", "1.e5", "1e", "1e+", "0x10", "1_000", "NaN",
			"Infinity", "-Infinity", "tru", "True", "nul", "falsee", "undefined", "'a'", "\"a", "a", "", "1 2",
			"\"\\q\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\uD800\\u12\"", "\"\\\"", "\"\t\"", "\"\u0000\"", "\"\u001f\"",
			"{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}", "{,}", "[1,]", "[,]", "[1 2]", "[1", "{\"a\":1",
			"{\"a\" 1}", "[}", "{]", "[1}", "{\"a\":1]", "]", "}", ",", ":", "//", "\u00a0", "\f" })
	void invalidJsonIsMalformedWithAnOffset(String value) {
		Snapshot snapshot = setTo(value);
		assertThat(snapshot.code()).isEqualTo(Rejection.MALFORMED);
		assertThat(snapshot.message()).matches("(?s).+ \\(byte \\d+ of the record\\)");
		assertThat(snapshot.arguments()).containsExactly("k");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					{"op":"DEL","key" "k"}       | expected ':' after a member's name, found '"' (byte 18 of the record)
					{"op":"DEL","key":"k"} x     | expected nothing more after the record, found 'x' (byte 23 of the record)
					{"op":"DEL","key":"k"}{}     | expected nothing more after the record, found '{': curl's -d removes line breaks, --data-binary keeps them (byte 22 of the record)
					{"op":"DEL","key":"k"        | expected ',' or '}', found the end (byte 21 of the record)
					{"op":"DEL","key":"k         | expected '"' to end a string, found the end (byte 20 of the record)
					{"op":"DEL","key":"\\x"}     | expected one of " \\ / b f n r t u after a backslash, found 'x' (byte 20 of the record)
					{"op":"DEL","key":"\\ud83d"} | a string holds half of a surrogate pair, \\ud83d, which stands for no character (byte 19 of the record)
					""")
	void faultIsNamedWithWhatIsExpected(String line, String message) {
		assertThat(Snapshot.line(line).message()).isEqualTo(message);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			\\" \\\\ \\/           | " \\ /
			a\\u0041\\u00e9\\u20ac | aAé€
			\\ud83d\\ude00         | 😀
			\\uD83D\\uDE00!        | 😀!
			\\uffff                | \uffff
			Grüße, 日本 😀         | Grüße, 日本 😀
			\\u007f                | \u007f
			""")
	void escapesAndUtf8BecomeUtf8(String text, String expected) {
		Snapshot snapshot = setTo('"' + text + '"');
		assertThat(snapshot.message()).isNull();
		assertThat(snapshot.arguments().get(1)).isEqualTo(Snapshot.utf8(expected));
	}

	@Test
	void controlCharactersComeByEscape() {
		assertThat(setTo("\"\\b\\f\\n\\r\\t\\u0000\"").arguments().get(1)).isEqualTo("\b\f\n\r\t\0");
	}

	@ParameterizedTest
	@ValueSource(strings = { "\\ud800", "\\udc00", "\\ud800x", "\\ud800\\n", "\\ud800\\u0041", "\\ud800\\ud800",
			"\\udc00\\ud800", "\\ude00\\ud83d" })
	void halfASurrogatePairIsMalformed(String text) {
		assertThat(setTo('"' + text + '"').message()).contains("half of a surrogate pair");
		assertThat(setTo("{\"" + text + "\":1}").message()).contains("half of a surrogate pair");
	}

	@ParameterizedTest
	@ValueSource(strings = { "\u0080", "\u00bf", "\u00c0\u0080", "\u00c1\u00bf", "\u00c3", "\u00c3x",
			"\u00c3\u00c3\u00a9", "\u00e0\u0080\u0080", "\u00e0\u009f\u00bf", "\u00e2\u0082", "\u00e2\u0082x",
			"\u00ed\u00a0\u0080", "\u00ed\u00bf\u00bf", "\u00f0\u0080\u0080\u0080", "\u00f0\u008f\u00bf\u00bf",
			"\u00f0\u009f\u0098", "\u00f4\u0090\u0080\u0080", "\u00f5\u0080\u0080\u0080", "\u00fe", "\u00ff" })
	void invalidUtf8IsMalformed(String bytes) throws IOException {
		for (String value : new String[] { '"' + bytes + '"', "{\"" + bytes + "\": [\"" + bytes + "\"]}" }) {
			String record = "{\"value\":" + value + ",\"op\":\"SET\",\"key\":\"k\"}";
			Snapshot line = Snapshot.ndjson(Snapshot.latin1(record), Snapshot.MAX_RECORD_BYTES).get(0);
			assertThat(line.code()).isEqualTo(Rejection.MALFORMED);
			assertThat(line.message()).startsWith("a string is not UTF-8: found byte 0x");
			assertThat(line.words()).containsExactly("SET", "k");
			assertThat(Snapshot.json(Snapshot.latin1("[" + record + ",[\"DEL\",\"k\"]]"), Snapshot.MAX_RECORD_BYTES))
				.extracting(Snapshot::code)
				.containsExactly(Rejection.MALFORMED, null);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "\u0000", "\u007f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff",
			"\ud800\udc00", "\udbff\udfff" })
	void everyLengthOfUtf8IsReadToItsLimits(String character) {
		String escaped = character.chars()
			.mapToObj((unit) -> String.format("\\u%04x", unit))
			.reduce("", String::concat);
		assertThat(setTo('"' + escaped + '"').arguments().get(1)).isEqualTo(Snapshot.utf8(character));
		if (character.charAt(0) >= ' ') {
			assertThat(setTo('"' + character + '"').arguments().get(1)).isEqualTo(Snapshot.utf8(character));
		}
	}

	@Test
	void nestedValueIsCompactAndItsStringsAreUnchanged() {
		String value = " { \"a\\u0062 \" : [ 1 , \" \\n x \" , { } , [ ] , [ [ ] ] ] ,\t\"a\\u0062 \":{\"é\" : null , \"\":true} } ";
		assertThat(setTo(value).arguments().get(1)).isEqualTo(
				Snapshot.utf8("{\"a\\u0062 \":[1,\" \\n x \",{},[],[[]]],\"a\\u0062 \":{\"é\":null,\"\":true}}"));
	}

	@Test
	void nestingEndsAt64Levels() throws IOException {
		String deepest = "[".repeat(63) + "]".repeat(63);
		assertThat(setTo(deepest).arguments().get(1)).isEqualTo(deepest);
		String mixed = "{\"a\":[".repeat(31) + "{}" + "]}".repeat(31);
		assertThat(setTo(mixed).arguments().get(1)).isEqualTo(mixed);
		Snapshot deeper = setTo("[".repeat(64) + "]".repeat(64));
		assertThat(deeper.code()).isEqualTo(Rejection.MALFORMED);
		assertThat(deeper.message()).startsWith("a record nests objects and arrays at most 64 deep");
		assertThat(setTo("[".repeat(500_000)).code()).isEqualTo(Rejection.MALFORMED);
		assertThat(Snapshot.json("[[\"SET\",\"k\"," + "[".repeat(5_000) + "]".repeat(5_000) + "],[\"DEL\",\"k\"]]"))
			.extracting(Snapshot::code)
			.containsExactly(Rejection.MALFORMED, null);
	}

	@Test
	void grammarFaultsAreReportedFirst() {
		Snapshot snapshot = Snapshot.line("{\"op\":\"FLUSHALL\",\"key\":1");
		assertThat(snapshot.code()).isEqualTo(Rejection.MALFORMED);
	}

	private static Snapshot setTo(String value) {
		return Snapshot.line("{\"op\":\"SET\",\"key\":\"k\",\"value\":" + value + "}");
	}

}
