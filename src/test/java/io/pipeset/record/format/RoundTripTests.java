package io.pipeset.record.format;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.SplitBody;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Any record that is written in any format is read back as the same record. */
@Timeout(60)
class RoundTripTests {

	private static final int BODIES = 300;

	static List<RecordFormat> formats() {
		return List.of(RecordFormat.values());
	}

	@ParameterizedTest
	@MethodSource("formats")
	void recordsAreTheSameInPiecesOfEverySize(RecordFormat format) throws IOException {
		for (int seed = 0; seed < BODIES; seed++) {
			RecordWriter writer = new RecordWriter(seed);
			List<List<String>> commands = commands(writer, format);
			byte[] body = writer.write(format.mediaType(), commands).getBytes(StandardCharsets.ISO_8859_1);
			assertThat(words(format, body, body.length, body.length)).as("seed %d", seed).isEqualTo(commands);
			for (int piece = 1; piece < 40; piece++) {
				assertThat(words(format, body, piece, piece)).as("seed %d in pieces of %d", seed, piece)
					.isEqualTo(commands);
			}
			for (int first = 1; first < body.length && seed < 30; first++) {
				assertThat(words(format, body, first, body.length)).as("seed %d split at %d", seed, first)
					.isEqualTo(commands);
			}
		}
	}

	@ParameterizedTest
	@MethodSource("formats")
	void recordsAreTheSameAroundTheEndOfTheBuffer(RecordFormat format) throws IOException {
		for (int seed = 0; seed < 100; seed++) {
			RecordWriter writer = new RecordWriter(seed);
			List<List<String>> commands = new ArrayList<>(commands(writer, format));
			commands.add(0, List.of("SET", "k", "x".repeat(65_400 + seed * 2)));
			byte[] body = writer.write(format.mediaType(), commands).getBytes(StandardCharsets.ISO_8859_1);
			assertThat(words(format, body, body.length, body.length)).as("seed %d", seed).isEqualTo(commands);
		}
	}

	@ParameterizedTest
	@MethodSource("formats")
	void aReaderReportsItsConsumedShare(RecordFormat format) throws IOException {
		byte[] body = new RecordWriter(1)
			.write(format.mediaType(), Collections.nCopies(1000, List.of("SET", "key", "value")))
			.getBytes(StandardCharsets.ISO_8859_1);
		RecordReader reader = format.open(new SplitBody(body, body.length, body.length), null,
				Limits.ofBytes(Snapshot.MAX_RECORD_BYTES));
		assertThat(reader.consumed()).isZero();
		Record record = new Record();
		for (int read = 1; read <= 1000; read++) {
			assertThat(reader.read(record)).isTrue();
			assertThat(reader.consumed()).isCloseTo(read / 1000.0, within(0.01));
		}
	}

	private static List<List<String>> commands(RecordWriter writer, RecordFormat format) {
		List<List<String>> commands = writer.commands(!isBinary(format));
		return (format == RecordFormat.TSV) ? RecordWriter.plain(commands) : commands;
	}

	/** Whether words of the format may have bytes that are not UTF-8. */
	private static boolean isBinary(RecordFormat format) {
		return format == RecordFormat.RESP || format == RecordFormat.TEXT;
	}

	private static List<List<String>> words(RecordFormat format, byte[] body, int first, int piece) throws IOException {
		List<List<String>> words = new ArrayList<>();
		for (Snapshot snapshot : Snapshot.readAll(format.open(new SplitBody(body.clone(), first, piece), null,
				Limits.ofBytes(Snapshot.MAX_RECORD_BYTES)))) {
			assertThat(snapshot.message()).isNull();
			words.add(snapshot.words());
		}
		return words;
	}

}
