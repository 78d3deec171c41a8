package io.pipeset.record.mapping;

import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The setting fields, and commands, are read as they are written. */
class FieldTemplateTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			a                        | a=>{a}
			a,b c                    | a=>{a};b c=>{b c}
			"a,b",c                  | a,b=>{a,b};c=>{c}
			city={address.city}      | city=>{address.city}
			n={a,b},m                | n=>{a,b};m=>{m}
			n="x, {a}",m             | n=>x, {a};m=>{m}
			{attrs...},id            | =>{attrs...};id=>{id}
			"a=b"=x{{                | a=b=>x{{
			""")
	void fieldsAreSeparatedByCommas(String text, String expected) {
		List<FieldTemplate> fields = FieldTemplate.parse(text);
		assertThat(fields).extracting((field) -> field.name() + "=>" + field.template())
			.containsExactly(expected.split(";"));
		assertThat(FieldTemplate.parse(FieldTemplate.format(fields))).extracting(FieldTemplate::toString)
			.isEqualTo(fields.stream().map(FieldTemplate::toString).toList());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ",", "a,", "*", "\"a", "a={", "a={b...}", "{b}", "{b...}x", "a=\"b\"c", "\"\"" })
	void othersAreNone(String text) {
		assertThatThrownBy(() -> FieldTemplate.parse(text)).isInstanceOf(TemplateException.class);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			SET a b              | SET/a/b
			 SET  {a b}   x{c}   | SET/{a b}/x{c}
			SET "a b" 'c\\'d'    | SET/"a b"/'c\\'d'
			SET {{a}} [ {b} ]    | SET/{{a}}/[/{b}/]
			""")
	void aCommandHasWords(String text, String expected) {
		assertThat(Word.parseCommand(text)).extracting(Word::text).containsExactly(expected.split("/"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "  ", "SET \"a", "SET 'a'b", "SET a\"b\"", "SET {a", "SET a}" })
	void othersAreNoCommand(String text) {
		assertThatThrownBy(() -> Word.parseCommand(text)).isInstanceOf(TemplateException.class);
	}

}
