package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;

import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.room.Room;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A text is Base64 if Java's own encoder writes it, and not otherwise. */
class Base64BytesTests {

	private final Base64Bytes base64 = new Base64Bytes(Room.UNLIMITED);

	@Test
	void whatWasDecodedStaysUntilItIsForgotten() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		for (int round = 0; round < 50; round++) {
			this.base64.clear();
			List<byte[]> originals = new ArrayList<>();
			Record record = new Record(new RecordDefaults(null, 0, Encoding.BASE64), Room.UNLIMITED);
			record.begin(0);
			record.operation(Operation.DEL);
			for (int i = 0; i < 40; i++) {
				byte[] original = new byte[random.nextInt((i % 10 == 0) ? 5_000 : 20)];
				random.nextBytes(original);
				originals.add(original);
				byte[] text = (" " + Base64.getEncoder().encodeToString(original) + " ")
					.getBytes(StandardCharsets.US_ASCII);
				record.string(text, 1, text.length - 2);
			}
			assertThat(record.rejection()).isNull();
			for (int i = 0; i < originals.size(); i++) {
				byte[] found = Arrays.copyOfRange(record.source(i), record.offset(i),
						record.offset(i) + record.length(i));
				assertThat(found).as("seed %d, string %d", seed, i).isEqualTo(originals.get(i));
			}
		}
	}

	@Test
	void whatJavaRefusesIsRefused() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		String characters = "ABab01+/=_ é";
		for (int round = 0; round < 20_000; round++) {
			StringBuilder text = new StringBuilder();
			for (int i = random.nextInt(3) * 4 + random.nextInt(20) / 19; i > 0; i--) {
				text.append(characters.charAt(random.nextInt(random.nextBoolean() ? 8 : characters.length())));
			}
			byte[] bytes = text.toString().getBytes(StandardCharsets.ISO_8859_1);
			int expected;
			try {
				expected = (bytes.length % 4 != 0) ? -1 : Base64.getDecoder().decode(bytes).length;
			}
			catch (IllegalArgumentException ex) {
				expected = -1;
			}
			assertThat(this.base64.decode(bytes, 0, bytes.length)).as("seed %d: '%s'", seed, text).isEqualTo(expected);
		}
	}

}
