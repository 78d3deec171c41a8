package io.pipeset.record.json;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.SplitBody;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.format.Snapshot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

@Timeout(30)
class MutatedBodyTests {

	private static final int MUTATIONS = 1_000;

	private static final byte[] TELLING = "{}[]\",:\\u0eE-+.\n\r \t\u0000\u007ftn".getBytes(StandardCharsets.UTF_8);

	private static final int LIMIT = 150;

	@Test
	void ndjsonHasOneRecordForEachLineThatIsNotBlank() throws IOException {
		for (int seed = 0; seed < MUTATIONS; seed++) {
			byte[] body = mutate(String.join("\n", records(seed)), seed);
			List<Snapshot> snapshots = Snapshot.ndjson(new SplitBody(body.clone(), 1 + seed % 100, 1 + seed % 977),
					LIMIT);
			assertThat(snapshots).as("seed %d", seed).hasSize(linesThatAreNotBlank(body));
			for (int i = 0; i < snapshots.size(); i++) {
				assertConsistent(snapshots.get(i), i, seed);
			}
		}
	}

	@Test
	void jsonEndsAfterItsRecordsOrWithAnOffset() {
		for (int seed = 0; seed < MUTATIONS; seed++) {
			byte[] body = mutate("[" + String.join(",", records(seed)) + "]", seed);
			RecordReader reader = RecordFormat.JSON.open(new ByteArrayInputStream(body.clone()), null,
					Limits.ofBytes(LIMIT));
			Record record = new Record();
			int count = 0;
			try {
				while (reader.read(record)) {
					assertConsistent(Snapshot.of(record), count++, seed);
				}
			}
			catch (MalformedBodyException ex) {
				assertThat(ex.byteOffset()).as("seed %d", seed).isBetween(0L, (long) body.length);
			}
			catch (Exception ex) {
				fail("seed " + seed, ex);
			}
			assertThat(record.index()).as("seed %d", seed).isEqualTo(count - 1);
		}
	}

	@Test
	void bothFormatsReadTheSameFromTheSameElement() throws IOException {
		for (int seed = 0; seed < MUTATIONS; seed++) {
			byte[] element = mutate(records(seed).get(0), seed);
			String text = new String(element, StandardCharsets.ISO_8859_1).replace('\n', ' ').replace('\r', ' ');
			List<Snapshot> lines = Snapshot.ndjson(Snapshot.latin1(text), Snapshot.MAX_RECORD_BYTES);
			try {
				List<Snapshot> elements = Snapshot.json(Snapshot.latin1("[" + text + "]"), Snapshot.MAX_RECORD_BYTES);
				if (elements.size() == 1 && lines.size() == 1) {
					assertThat(elements.get(0).words()).as("seed %d", seed).isEqualTo(lines.get(0).words());
					assertThat(elements.get(0).message()).as("seed %d", seed).isEqualTo(lines.get(0).message());
				}
			}
			catch (MalformedBodyException ex) {
				assertThat(lines.get(0).code()).as("seed %d", seed).isEqualTo(Rejection.MALFORMED);
			}
		}
	}

	private static List<String> records(int seed) {
		RandomJson random = new RandomJson(seed);
		return List.of("{\"op\":\"SET\",\"key\":" + random.string() + ",\"value\":" + random.value(3) + "}",
				"{\"op\":\"HSET\",\"key\":\"h\",\"fields\":{\"a\":1," + random.string() + ":" + random.argument()
						+ "}}",
				"[\"LPUSH\"," + random.string() + "," + random.argument() + "]",
				"{\"op\":\"RPOP\",\"key\":\"q\",\"count\":10,\"id\":" + random.string() + "}",
				"[\"DEL\",\"k\"," + random.argument() + "]");
	}

	private static byte[] mutate(String text, int seed) {
		Random random = new Random(seed);
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		for (int i = random.nextInt(4); i >= 0; i--) {
			int at = random.nextInt(bytes.length);
			int length = Math.min(random.nextInt(8), bytes.length - at);
			ByteArrayOutputStream mutated = new ByteArrayOutputStream();
			mutated.write(bytes, 0, at);
			switch (random.nextInt(5)) {
				case 0 -> mutated.write(TELLING[random.nextInt(TELLING.length)]);
				case 1 -> mutated.write(random.nextInt(256));
				case 2 -> {
					mutated.write(bytes, at, length);
					mutated.write(bytes, at, length);
				}
				case 3 -> at = (random.nextInt(10) == 0) ? bytes.length - length : at;
				default -> {
					mutated.write(TELLING[random.nextInt(TELLING.length)]);
					length = 0;
				}
			}
			mutated.write(bytes, at + length, bytes.length - at - length);
			bytes = (mutated.size() > 0) ? mutated.toByteArray() : bytes;
		}
		return bytes;
	}

	private static int linesThatAreNotBlank(byte[] body) {
		return (int) Arrays.stream(new String(body, StandardCharsets.ISO_8859_1).split("\n"))
			.filter((line) -> !line.matches("[ \t\r]*"))
			.count();
	}

	private static void assertConsistent(Snapshot snapshot, int index, int seed) {
		assertThat(snapshot.index()).as("seed %d", seed).isEqualTo(index);
		if (snapshot.code() == null) {
			assertThat(snapshot.operation()).as("seed %d", seed).isNotNull();
			assertThat(snapshot.arguments()).as("seed %d", seed).isNotEmpty();
		}
		else {
			assertThat(snapshot.message()).as("seed %d", seed).isNotBlank();
		}
	}

}
