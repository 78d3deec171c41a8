package io.pipeset.record.format;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.SplitBody;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every body is read as valid and invalid records, up to its end or up to a byte from
 * which it cannot be read.
 */
@Timeout(120)
class HostileBodyTests {

	private static final int LIMIT = 200;

	static List<String> mediaTypes() {
		return Stream.of(RecordFormat.values()).map(RecordFormat::mediaType).toList();
	}

	@ParameterizedTest
	@MethodSource("mediaTypes")
	void recordsAndTheirEndAreTheSameInPiecesOfEverySize(String mediaType) {
		HostileBodies.tryEach(mediaType, 1, (seed, body) -> {
			RecordFormat format = RecordFormat.of(mediaType);
			Operation operation = new Operation[] { null, Operation.SET, Operation.HSET, Operation.DEL }[seed % 4];
			List<String> whole = read(format, operation, new SplitBody(body.clone(), body.length + 1, 1), body.length);
			for (int piece : new int[] { 1, 2, 3, 1 + seed % 50 }) {
				assertThat(read(format, operation, new SplitBody(body.clone(), piece, piece), body.length))
					.as("pieces of %d", piece)
					.isEqualTo(whole);
			}
		});
	}

	private static List<String> read(RecordFormat format, @Nullable Operation operation, InputStream body, int length) {
		List<String> read = new ArrayList<>();
		Record record = new Record();
		RecordReader reader = format.open(body, operation, Limits.ofBytes(LIMIT));
		try {
			while (reader.read(record)) {
				Snapshot snapshot = Snapshot.of(record);
				assertThat(snapshot.index()).isEqualTo(read.size());
				if (snapshot.code() == null) {
					assertThat(snapshot.operation()).isNotNull();
					assertThat(snapshot.arguments()).isNotEmpty();
				}
				else {
					assertThat(snapshot.code()).isIn("MALFORMED", "TOO_LARGE", "UNKNOWN_OPERATION");
					assertThat(snapshot.message()).isNotBlank();
				}
				read.add(snapshot.toString());
			}
			Snapshot last = Snapshot.of(record);
			assertThat(reader.read(record)).isFalse();
			assertThat(Snapshot.of(record)).isEqualTo(last);
		}
		catch (MalformedBodyException ex) {
			assertThat(ex.byteOffset()).isBetween(0L, (long) length);
			read.add("byte " + ex.byteOffset() + ": " + ex.getMessage());
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
		return read;
	}

}
