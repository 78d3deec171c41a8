package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.memory.CountedReservation;
import io.pipeset.record.memory.MemoryReservation;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A text is Base64 only if Java's encoder writes it. An argument's bytes do not change
 * until {@code clear()}.
 */
class ArgumentBytesTests {

	private final ArgumentBytes bytes = new ArgumentBytes(MemoryReservation.UNLIMITED);

	@Test
	void decodedArgumentsStayUnchangedUntilClear() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		for (int round = 0; round < 50; round++) {
			List<byte[]> originals = new ArrayList<>();
			Record record = new Record(new RecordDefaults(null, null, null, 0, Encoding.BASE64),
					MemoryReservation.UNLIMITED);
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
	void joinedArgumentsStayUnchangedUntilClear() {
		AtomicLong held = new AtomicLong();
		ArgumentBytes bytes = new ArgumentBytes(new CountedReservation(held, false));
		Random random = new Random(5);
		for (int round = 0; round < 200; round++) {
			bytes.clear();
			assertThat(held).hasValue(0);
			List<String> expected = new ArrayList<>();
			List<Supplier<String>> found = new ArrayList<>();
			for (int i = random.nextInt(30); i >= 0; i--) {
				StringBuilder argument = new StringBuilder();
				bytes.begin();
				for (int part = random.nextInt(5); part > 0; part--) {
					String text = ("" + i + part).repeat(random.nextInt((part == 1) ? 40_000 : 50));
					argument.append(text);
					bytes.append((" " + text).getBytes(StandardCharsets.US_ASCII), 1, text.length());
				}
				expected.add(argument.toString());
				byte[] array = bytes.bytes();
				int start = bytes.start();
				int length = bytes.length();
				found.add(() -> new String(array, start, length, StandardCharsets.US_ASCII));
			}
			assertThat(found.stream().map(Supplier::get).toList()).isEqualTo(expected);
		}
	}

	@Test
	void base64ThatJavaRefusesIsRefused() {
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
			this.bytes.begin();
			boolean decoded = this.bytes.appendBase64(bytes, 0, bytes.length);
			assertThat((decoded) ? this.bytes.length() : -1).as("seed %d: '%s'", seed, text).isEqualTo(expected);
			this.bytes.clear();
		}
	}

}
