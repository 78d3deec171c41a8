package io.pipeset.engine.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.DecoderException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Sections of INFO are read in RESP2 and RESP3, between pushes, and wherever replies are
 * cut.
 */
class InfoExchangeTests {

	private final InfoExchange exchange = new InfoExchange(List.of("memory", "stats"));

	@Test
	void eachSectionHasItsOwnCommand() {
		ByteBuf out = Unpooled.buffer();
		this.exchange.writeTo(out);
		assertThat(out.toString(StandardCharsets.UTF_8))
			.isEqualTo("*2\r\n$4\r\nINFO\r\n$6\r\nmemory\r\n*2\r\n$4\r\nINFO\r\n$5\r\nstats\r\n");
	}

	@ParameterizedTest
	@ValueSource(strings = { "$18\r\n# Memory\r\nused:1\r\n\r\n$17\r\n# Stats\r\nkeys:2\r\n\r\n",
			"=22\r\ntxt:# Memory\r\nused:1\r\n\r\n=21\r\ntxt:# Stats\r\nkeys:2\r\n\r\n",
			">2\r\n+message\r\n*2\r\n$-1\r\n:1\r\n$9\r\n\nused:1\r\n\r\n>1\r\n_\r\n|1\r\n+key\r\n%1\r\n:1\r\n:2\r\n$8\r\nkeys:2\r\n\r\n" })
	void sectionsAreReadByteByByte(String replies) {
		byte[] bytes = replies.getBytes(StandardCharsets.UTF_8);
		for (int at = 0; at < bytes.length; at++) {
			assertThat(this.exchange.read(Unpooled.wrappedBuffer(bytes, at, 1))).isEqualTo(at == bytes.length - 1);
		}
		assertThat(this.exchange.text().lines()).contains("used:1", "keys:2");
	}

	@Test
	void bytesAfterTheLastReplyStayUnread() {
		ByteBuf replies = Unpooled.copiedBuffer("-NOPERM no\r\n$0\r\n\r\n+PONG\r\n", StandardCharsets.UTF_8);
		assertThat(this.exchange.read(replies)).isTrue();
		assertThat(replies.toString(StandardCharsets.UTF_8)).isEqualTo("+PONG\r\n");
		assertThat(this.exchange.text()).isBlank();
		this.exchange.forgetReplies();
		assertThat(this.exchange.isAnswered()).isFalse();
	}

	@Test
	void atMost64KilobytesAreKept() {
		String section = "x".repeat(100_000);
		ByteBuf replies = Unpooled.copiedBuffer("$100000\r\n" + section + "\r\n$4\r\nmore\r\n", StandardCharsets.UTF_8);
		assertThat(this.exchange.read(replies)).isTrue();
		assertThat(this.exchange.text()).hasSize(64 << 10);
		assertThat(replies.isReadable()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "hello\r\n", "\r\n", "$x\r\n", "$\r\n", "$99999999999999999999\r\n" })
	void anInvalidReplyIsRefused(String reply) {
		assertThatExceptionOfType(DecoderException.class)
			.isThrownBy(() -> this.exchange.read(Unpooled.copiedBuffer(reply, StandardCharsets.UTF_8)));
	}

}
