package io.pipeset.record.body;

import java.util.Arrays;
import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LineScannerTests {

	@Test
	void findsTheFirstLineFeedAtEveryPosition() {
		for (int length = 0; length < 40; length++) {
			byte[] bytes = new byte[length];
			Arrays.fill(bytes, (byte) '\u000b');
			assertThat(LineScanner.findLineFeed(bytes, 0, length)).isEqualTo(-1);
			for (int place = length - 1; place >= 0; place--) {
				bytes[place] = '\n';
				for (int from = 0; from <= place; from++) {
					assertThat(LineScanner.findLineFeed(bytes, from, length)).isEqualTo(place);
				}
				assertThat(LineScanner.findLineFeed(bytes, 0, place)).isEqualTo(-1);
			}
		}
	}

	@Test
	void findsTheFirstLineFeedOrQuoteAtEveryPosition() {
		for (int length = 0; length < 40; length++) {
			byte[] bytes = new byte[length];
			Arrays.fill(bytes, (byte) '#');
			assertThat(LineScanner.findLineFeedOrQuote(bytes, 0, length)).isEqualTo(-1);
			for (int place = length - 1; place >= 0; place--) {
				bytes[place] = (byte) ((place % 2 == 0) ? '\n' : '"');
				for (int from = 0; from <= place; from++) {
					assertThat(LineScanner.findLineFeedOrQuote(bytes, from, length)).isEqualTo(place);
				}
			}
		}
	}

	@Test
	void skipsPlainCharactersOfAString() {
		for (int value = 0; value < 256; value++) {
			boolean plain = value >= ' ' && value < 0x80 && value != '"' && value != '\\';
			for (int length = 1; length <= 20; length++) {
				for (int place = 0; place < length; place++) {
					byte[] bytes = new byte[length + 3];
					Arrays.fill(bytes, (byte) 'a');
					bytes[2 + place] = (byte) value;
					assertThat(LineScanner.skipPlain(bytes, 2, 2 + length)).as("%d at %d of %d", value, place, length)
						.isEqualTo((plain) ? 2 + length : 2 + place);
				}
			}
		}
	}

	@Test
	void ignoresAllOtherBytes() {
		Random random = new Random(7);
		byte[] bytes = new byte[64];
		for (int round = 0; round < 10_000; round++) {
			random.nextBytes(bytes);
			int expected = -1;
			int expectedEither = -1;
			for (int i = bytes.length - 1; i >= 0; i--) {
				expected = (bytes[i] == '\n') ? i : expected;
				expectedEither = (bytes[i] == '\n' || bytes[i] == '"') ? i : expectedEither;
			}
			assertThat(LineScanner.findLineFeedOrQuote(bytes, 0, bytes.length)).isEqualTo(expectedEither);
			assertThat(LineScanner.findLineFeed(bytes, 0, bytes.length)).isEqualTo(expected);
		}
	}

}
