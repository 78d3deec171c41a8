package io.pipeset.record.json;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.pipeset.record.Operation;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.SplitBody;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.format.Snapshot;
import io.pipeset.record.mapping.CellSyntax;
import io.pipeset.record.mapping.Header;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Rows;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The elements of an array within objects are rows, however many there are. */
class ItemRowsTests {

	private static final int LIMIT = 60;

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 7, 100, 100_000 })
	void anArrayOfAnyLengthIsReadInPieces(int piece) throws IOException {
		String elements = IntStream.range(0, 300)
			.mapToObj((i) -> "{\"id\": " + i + ((i == 7) ? ",\"x\":\"" + "}".repeat(LIMIT) + "\"}" : "}"))
			.collect(Collectors.joining(", "));
		String skipped = "\"x\":[\"]}\\\"" + "y".repeat(2 * LIMIT) + "\",{\"id\":1}],";
		List<Snapshot> records = read("{" + skipped + "\"hits\":{\"hits\":[" + elements + "],\"a\":{}}}"
				+ " {\"hits\":null}\n{\"hits\":{\"\\u0068its\":[{\"id\":300}]," + skipped + "\"z\":1}}", piece);
		assertThat(records).hasSize(301);
		for (int i = 0; i < records.size(); i++) {
			assertThat(records.get(i).code()).isEqualTo((i == 7) ? "TOO_LARGE" : null);
			assertThat(records.get(i).arguments())
				.isEqualTo((i == 7) ? List.of() : List.of("" + i, "{\"id\":" + i + "}"));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"hits\":{\"hits\":[{\"id\":1}", "{\"hits\":{\"hits\":[{\"id\":1}]",
			"{\"hits\":{\"hits\":[}}}", "{\"hits\":{\"hits\":7}}", "{\"hits\":[{\"id\":1}]}", "{\"hits\" {}}",
			"{\"hits\":{\"hits\":[{\"id\":1}]}} x", "{\"hits\":{\"hits\":[{\"id\":1} {\"id\":2}]}}", "{hits:{}}",
			"{\"hats\":{\"hits\":[]}}", "" })
	void aBodyThatIsBrokenOrHasNoSuchArrayEndsTheJob(String body) {
		for (int piece : new int[] { 1, 100 }) {
			assertThatThrownBy(() -> read(body, piece)).isInstanceOf(MalformedBodyException.class);
		}
	}

	private static List<Snapshot> read(String body, int piece) throws IOException {
		Templates templates = new Templates(Operation.SET, new Templates.Texts(Template.parse("{id}"),
				Template.parse("{*}"), null, List.of(), List.of(), null, null, null));
		Mapping mapping = new Mapping(templates, Nulls.REFUSE, CellSyntax.PLAIN, Header.FIRST_ROW,
				Objects.requireNonNull(Rows.parse("items:hits.hits")));
		return Snapshot
			.readAll(RecordFormat.JSON.open(new SplitBody(body.getBytes(StandardCharsets.UTF_8), piece, piece),
					Operation.SET, mapping, Limits.ofBytes(LIMIT)));
	}

}
