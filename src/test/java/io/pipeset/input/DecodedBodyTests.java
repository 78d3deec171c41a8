package io.pipeset.input;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.PiecesThenSilence;
import io.pipeset.record.body.SplitBody;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class DecodedBodyTests {

	@ParameterizedTest
	@ValueSource(strings = { "UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "GB18030", "CESU-8", "x-UTF-16LE-BOM" })
	void everyCharacterIsTheSameInUtf8(String name) throws IOException {
		String text = "SET a é€\uD83D\uDE00 \u4E2D\n".repeat(3000);
		for (int piece : new int[] { 1, 3, 1000, 1 << 20 }) {
			InputStream body = new SplitBody(text.getBytes(Charset.forName(name)), piece, piece);
			assertThat(new String(DecodedBody.of(body, Charset.forName(name)).readAllBytes(), StandardCharsets.UTF_8))
				.isEqualTo(text);
		}
	}

	@Test
	void utf8IsReadAsItIs() {
		InputStream body = new ByteArrayInputStream(new byte[0]);
		assertThat(DecodedBody.of(body, StandardCharsets.UTF_8)).isSameAs(body);
		assertThat(DecodedBody.of(body, StandardCharsets.US_ASCII)).isNotSameAs(body);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 5, 1000 })
	void bytesBeforeAFaultAreRead(int piece) throws IOException {
		byte[] bytes = "abcd".getBytes(StandardCharsets.UTF_16LE);
		bytes[5] = (byte) 0xDC;
		InputStream decoded = DecodedBody.of(new SplitBody(bytes, piece, piece), StandardCharsets.UTF_16LE);
		ByteArrayOutputStream read = new ByteArrayOutputStream();
		for (int i = 0; i < 2; i++) {
			assertThat(catchThrowableOfType(MalformedBodyException.class, () -> decoded.transferTo(read)).byteOffset())
				.isEqualTo(4);
		}
		assertThat(read.toString(StandardCharsets.UTF_8)).isEqualTo("ab");
	}

	@Test
	void halfACharacterAtTheEndIsAFault() {
		InputStream decoded = DecodedBody.of(new ByteArrayInputStream(new byte[] { 0, 'a', 0 }),
				StandardCharsets.UTF_16BE);
		assertThat(catchThrowableOfType(MalformedBodyException.class, decoded::readAllBytes).byteOffset()).isEqualTo(2);
	}

	@Test
	void decodedBytesAreReturnedBeforeItWaits() throws IOException {
		InputStream body = new PiecesThenSilence("S\0E\0T\0 \0\n\0S\0");
		byte[] read = new byte[100];
		assertThat(DecodedBody.of(body, StandardCharsets.UTF_16LE).read(read, 0, 100)).isEqualTo(6);
	}

}
