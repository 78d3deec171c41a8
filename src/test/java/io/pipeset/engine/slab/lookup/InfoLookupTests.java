package io.pipeset.engine.slab.lookup;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Sections of INFO are read in RESP2 and RESP3, and an error is no section. */
class InfoLookupTests {

	private final InfoLookup lookup = new InfoLookup(List.of("memory", "stats"));

	@Test
	void eachSectionHasItsOwnCommand() {
		ByteBuf out = Unpooled.buffer();
		this.lookup.writeTo(out);
		assertThat(out.toString(StandardCharsets.UTF_8))
			.isEqualTo("*2\r\n$4\r\nINFO\r\n$6\r\nmemory\r\n*2\r\n$4\r\nINFO\r\n$5\r\nstats\r\n");
	}

	@ParameterizedTest
	@ValueSource(strings = { "$18\r\n# Memory\r\nused:1\r\n\r\n$17\r\n# Stats\r\nkeys:2\r\n\r\n",
			"=22\r\ntxt:# Memory\r\nused:1\r\n\r\n=21\r\ntxt:# Stats\r\nkeys:2\r\n\r\n" })
	void sectionsAreReadByteByByte(String replies) {
		byte[] bytes = replies.getBytes(StandardCharsets.UTF_8);
		for (int at = 0; at < bytes.length; at++) {
			assertThat(this.lookup.read(Unpooled.wrappedBuffer(bytes, at, 1))).isEqualTo(at == bytes.length - 1);
		}
		assertThat(this.lookup.text().lines()).contains("used:1", "keys:2");
		assertThat(this.lookup.error()).isNull();
	}

	@Test
	void anErrorIsKept() {
		ByteBuf replies = Unpooled.copiedBuffer("-NOPERM no\r\n-NOPERM no\r\n", StandardCharsets.UTF_8);
		assertThat(this.lookup.read(replies)).isTrue();
		assertThat(this.lookup.error()).isEqualTo("NOPERM no");
		assertThat(this.lookup.text()).isEmpty();
	}

	@Test
	void atMost64KilobytesAreKept() {
		String section = "x".repeat(100_000);
		ByteBuf replies = Unpooled.copiedBuffer("$100000\r\n" + section + "\r\n$4\r\nmore\r\n", StandardCharsets.UTF_8);
		assertThat(this.lookup.read(replies)).isTrue();
		assertThat(this.lookup.text()).hasSize(64 << 10);
		assertThat(replies.isReadable()).isFalse();
	}

}
