package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Templates and lists of names are read correctly. */
class TemplateTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			session:{sid}         | session:/               | sid
			{sid}                 | /                       | sid
			{a}{b}                | //                      | a,b
			queue                 | queue                   | ~~
			~~                    | ~~                      | ~~
			user:{{{id}}}:x       | user:{/}:x              | id
			{{}}                  | {}                      | ~~
			{{id}}                | {id}                    | ~~
			{a}}}                 | /}                      | a
			{user.id}-{Full Name} | /-/                     | user.id,Full Name
			{*}                   | /                       | *
			größe:{Größe}         | größe:/                 | Größe
			{"a"}                 | /                       | "a"
			{{{{{a}               | {{/                     | a
			""")
	void bracesSurroundNames(String text, String literals, String names) {
		Template template = Template.parse(text);
		assertThat(template).hasToString(text);
		assertThat(template.values().stream().map(Value::text).collect(Collectors.joining(","))).isEqualTo(names);
		assertThat(String.join("/",
				Arrays.stream(template.literals())
					.map((literal) -> new String(literal, StandardCharsets.UTF_8))
					.toList()))
			.isEqualTo(literals);
	}

	@ParameterizedTest
	@ValueSource(strings = { "{", "}", "{a", "a}", "{}", "x{}y", "{a{b}", "{a}}", "}{", "{{a}", "{a}}{b}", "}}}", "{{{",
			"{{{}}}", "{a{b}c}" })
	void unmatchedBracesAreNotATemplate(String text) {
		assertThatThrownBy(() -> Template.parse(text)).isInstanceOf(TemplateException.class);
	}

	@Test
	void namesAreSeparatedByCommas() {
		assertThat(Names.parse("a,b c,")).containsExactly("a", "b c", "");
		assertThat(Names.parse("")).containsExactly("");
		assertThat(Names.parse("\"a,b\",c\"d,\"e\"\"f\",\"\"")).containsExactly("a,b", "c\"d", "e\"f", "");
		for (String text : List.of("\"a", "\"a\"b", "\"a\"\"", "x,\"")) {
			assertThat(Names.parse(text)).as(text).isNull();
		}
	}

}
