package io.pipeset.record.body;

import java.io.ByteArrayInputStream;
import java.io.IOException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BodyBufferTests {

	private static final int USUAL_BYTES = 64 * 1024;

	@Test
	void growsOnlyWhileNothingIsConsumed() throws IOException {
		BodyBuffer buffer = new BodyBuffer(new ByteArrayInputStream(new byte[1 << 20]), Limits.ofBytes(1 << 20));
		while (buffer.fill()) {
			buffer.consume(buffer.end() - 1);
			assertThat(buffer.bytes()).hasSize(USUAL_BYTES);
		}
		assertThat(buffer.offset(buffer.end())).isEqualTo(1 << 20);
	}

	@Test
	void growsToTheLargestRecordAndNoFurther() throws IOException {
		BodyBuffer buffer = new BodyBuffer(new ByteArrayInputStream(new byte[1 << 20]), Limits.ofBytes(300_000));
		while (buffer.end() - buffer.start() <= 300_000) {
			assertThat(buffer.fill()).isTrue();
		}
		assertThat(buffer.bytes()).hasSize(300_000 + USUAL_BYTES);
	}

	@Test
	void shrinksSomeFillsAfterALargeRecord() throws IOException {
		BodyBuffer buffer = new BodyBuffer(new SplitBody(new byte[1 << 20], 200_000, 1_000), Limits.ofBytes(200_000));
		while (buffer.end() - buffer.start() <= 200_000) {
			assertThat(buffer.fill()).isTrue();
		}
		int giant = buffer.bytes().length;
		for (int i = 0; i < 10; i++) {
			buffer.consume(buffer.end());
			assertThat(buffer.fill()).isTrue();
		}
		assertThat(buffer.bytes()).hasSize(giant);
		for (int i = 0; i < 100; i++) {
			buffer.consume(buffer.end());
			assertThat(buffer.fill()).isTrue();
		}
		assertThat(buffer.bytes()).hasSize(USUAL_BYTES);
	}

	@Test
	void keepsBytesThatAreNotConsumed() throws IOException {
		byte[] body = new byte[500_000];
		for (int i = 0; i < body.length; i++) {
			body[i] = (byte) ((i * 31) >> 3);
		}
		BodyBuffer buffer = new BodyBuffer(new SplitBody(body, 7, 997), Limits.ofBytes(100_000));
		long checked = 0;
		while (buffer.fill()) {
			long from = buffer.offset(buffer.start());
			for (int i = buffer.start(); i < buffer.end(); i++) {
				assertThat(buffer.bytes()[i]).isEqualTo(body[(int) from + i - buffer.start()]);
				checked++;
			}
			buffer.consume(buffer.start() + (buffer.end() - buffer.start()) * 2 / 3);
		}
		assertThat(checked).isGreaterThan(body.length);
	}

}
