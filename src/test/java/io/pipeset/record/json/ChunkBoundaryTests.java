package io.pipeset.record.json;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.pipeset.record.body.SplitBody;
import io.pipeset.record.format.Snapshot;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ChunkBoundaryTests {

	private static final int LIMIT = 120;

	private static final List<String> RECORDS = List.of(
			"{\"op\":\"SET\",\"key\":\"k\\u00e9\\\\\",\"value\":\"v\\ud83d\\ude00é日😀\"}", "[\"DEL\",\"]}\\\"{[\"]",
			"{\"key\":\"h\", \"fields\":{\"a\":1.5e-3,\"b\":true,\"a\":\"x\"},\"op\":\"HSET\",\"id\":\"i\"}",
			"{\"op\":\"SET\",\"key\":\"k\",\"value\" : { \"a\" : [ 1 , null , \"\\\\\" ] }, \"ttl\":60 }",
			"{\"op\":\"NOPE\",\"key\":\"k\"}", "{\"op\":\"SET\",\"key\":\"k\",\"value\":null}",
			"[\"SET\",\"k\",\"" + "\\\"]x".repeat(40) + "\"]", "-12.5", "\"a\\\\\\\"]\"", "[\"RPOP\",\"q\",3]");

	@Test
	void ndjsonIsTheSameInPiecesOfEverySize() throws IOException {
		byte[] body = ("\ufeff\n" + String.join("\n \r\n", RECORDS) + "\r\n{\"op\":\"DEL\n[\"DEL\",\"last\"]")
			.getBytes(StandardCharsets.UTF_8);
		List<Snapshot> whole = Snapshot.ndjson(new SplitBody(body, body.length, 1), LIMIT);
		assertThat(whole).hasSize(RECORDS.size() + 2);
		assertThat(whole).extracting(Snapshot::code).contains("TOO_LARGE", "MALFORMED", "UNKNOWN_OPERATION", null);
		for (int first = 1; first < body.length; first++) {
			assertThat(Snapshot.ndjson(new SplitBody(body, first, body.length), LIMIT)).as("split at %d", first)
				.isEqualTo(whole);
		}
		for (int piece = 1; piece < 50; piece++) {
			assertThat(Snapshot.ndjson(new SplitBody(body, piece, piece), LIMIT)).as("pieces of %d", piece)
				.isEqualTo(whole);
		}
	}

	@Test
	void jsonIsTheSameInPiecesOfEverySize() throws IOException {
		byte[] body = ("\ufeff\n [" + String.join(" ,\n ", RECORDS) + "\r\n]\n ").getBytes(StandardCharsets.UTF_8);
		List<Snapshot> whole = Snapshot.json(new SplitBody(body, body.length, 1), LIMIT);
		assertThat(whole).hasSize(RECORDS.size());
		for (int first = 1; first < body.length; first++) {
			assertThat(Snapshot.json(new SplitBody(body, first, body.length), LIMIT)).as("split at %d", first)
				.isEqualTo(whole);
		}
		for (int piece = 1; piece < 50; piece++) {
			assertThat(Snapshot.json(new SplitBody(body, piece, piece), LIMIT)).as("pieces of %d", piece)
				.isEqualTo(whole);
		}
	}

	@Test
	void recordsAreTheSameAroundTheEndOfTheBuffer() throws IOException {
		for (int lead = 65_400; lead < 65_640; lead++) {
			String body = "[\"DEL\",\"" + "x".repeat(lead - 10) + "\"]\n" + String.join("\n", RECORDS);
			List<Snapshot> snapshots = Snapshot.ndjson(body);
			assertThat(snapshots.get(0).arguments().get(0)).hasSize(lead - 10);
			assertThat(snapshots.get(4).arguments()).as("lead of %d", lead)
				.containsExactly("k", "{\"a\":[1,null,\"\\\\\"]}", "EX", "60");
			assertThat(snapshots.get(10).arguments()).as("lead of %d", lead).containsExactly("q", "3");
		}
	}

}
