package io.pipeset.record.body;

import java.util.Arrays;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class PlainBytesTests {

	@ParameterizedTest
	@ValueSource(strings = { "\"", "\",\r", "\0 \t\n\r\"'", "\0'\\", "\u007f" })
	void skipsTheSameAsOneByOne(String others) {
		PlainBytes plain = PlainBytes.asciiExcept(others);
		for (int value = 0; value < 256; value++) {
			boolean stands = value < 0x80 && others.indexOf(value) < 0;
			for (int length = 1; length <= 20; length++) {
				for (int place = 0; place < length; place++) {
					byte[] bytes = new byte[length + 3];
					Arrays.fill(bytes, (byte) 'a');
					bytes[2 + place] = (byte) value;
					assertThat(plain.skip(bytes, 2, 2 + length)).as("%d at %d of %d", value, place, length)
						.isEqualTo((stands) ? 2 + length : 2 + place);
				}
			}
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "\"", "\",\r" })
	void stopsAtTheFirstOfSeveral(String others) {
		byte[] bytes = new byte[24];
		for (int first = 0; first < bytes.length; first++) {
			Arrays.fill(bytes, (byte) 'a');
			Arrays.fill(bytes, first, bytes.length, (byte) '"');
			bytes[bytes.length - 1] = (byte) 0xFF;
			assertThat(PlainBytes.asciiExcept(others).skip(bytes, 0, bytes.length)).isEqualTo(first);
		}
	}

}
