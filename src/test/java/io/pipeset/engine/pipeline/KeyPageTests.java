package io.pipeset.engine.pipeline;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.DecoderException;
import io.pipeset.engine.pipeline.call.KeyFilter;
import io.pipeset.engine.pipeline.call.ScanPosition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Names and facts are read as Redis sent them, wherever the network cuts the replies. A
 * reply of another type is refused.
 */
class KeyPageTests {

	private static final String NAMES = "*2\r\n$2\r\n17\r\n*4\r\n$1\r\na\r\n$0\r\n\r\n>2\r\n+message\r\n*1\r\n:1\r\n"
			+ "$4\r\nx\r\ny\r\n$4\r\nskip\r\n";

	private static final String FACTS = ">3\r\n$7\r\nmessage\r\n$-1\r\n*1\r\n:1\r\n+string\r\n:-1\r\n:56\r\n"
			+ "|1\r\n+key\r\n$5\r\nv\r\nal\r\n+none\r\n:-2\r\n$-1\r\n+ReJSON-RL\r\n:123456789012\r\n_\r\n";

	private final KeyPage page = new KeyPage(1000);

	@Test
	void namesAndFactsAreReadByteByByte() {
		readByteByByte(scan(), NAMES);
		assertThat(this.page.next().cursor()).isEqualTo("17");
		assertThat(this.page.names()).containsExactly(utf8("a"), utf8(""), utf8("x\r\ny"));
		readByteByByte(facts(5), FACTS);
		assertThat(this.page.vanished()).isEqualTo(2);
		assertThat(this.page.keys()).singleElement().satisfies((key) -> {
			assertThat(key.name()).isEqualTo(utf8("a"));
			assertThat(List.of(key.type(), key.ttlMillis(), key.bytes())).containsExactly("string", -1L, 56L);
		});
		assertThat(this.page.refusals()).isEmpty();
	}

	@Test
	void theFirstErrorToEachCommandIsNoted() {
		read(scan(), "-LOADING Redis is loading\r\n");
		read(scan(), NAMES);
		read(facts(1), "-NOPERM type\r\n:-1\r\n:1\r\n+set\r\n:-1\r\n-NOPERM memory\r\n+set\r\n:-1\r\n-ERR last\r\n");
		assertThat(this.page.refusals()).containsOnlyKeys("SCAN", "TYPE", KeyPage.MEMORY_USAGE);
		assertThat(this.page.refusals().get(KeyPage.MEMORY_USAGE).getCause()).hasMessage("NOPERM memory");
		assertThat(this.page.keys()).extracting(KeyFacts::type).endsWith("set", "set");
	}

	@Test
	void theNamesOfAPageThatIsTooLargeAreDroppedAndCounted() {
		read(scan(), "*2\r\n$1\r\n9\r\n*3\r\n$1\r\na\r\n$2000\r\n" + "x".repeat(2000) + "\r\n$1\r\nb\r\n");
		assertThat(this.page.isTooLarge()).isTrue();
		assertThat(this.page.names()).isEmpty();
		assertThat(this.page.bytes()).isEqualTo(2002 + 3 * 120);
	}

	@ParameterizedTest
	@ValueSource(strings = { ":1\r\n", "+OK\r\n", "$1\r\na\r\n", "*2\r\n$1\r\n0\r\n$1\r\na\r\n",
			"*2\r\n$1\r\n0\r\n*1\r\n:1\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$-1\r\n", "*2\r\n$1\r\n0\r\n*1\r\n-ERR\r\n",
			"_\r\n", "hello\r\n", "\r\n", "$x\r\n" })
	void anUnexpectedReplyToScanIsRefused(String replies) {
		assertThatExceptionOfType(DecoderException.class).isThrownBy(() -> read(scan(), replies));
	}

	@ParameterizedTest
	@ValueSource(strings = { ":1\r\n", "_\r\n", "*0\r\n", "$1\r\na\r\n", "+set\r\n+set\r\n", "+set\r\n:1x\r\n",
			"+set\r\n:\r\n", "+set\r\n:1\r\n+set\r\n" })
	void anUnexpectedFactIsRefused(String replies) {
		read(scan(), NAMES);
		assertThatExceptionOfType(DecoderException.class).isThrownBy(() -> read(facts(5), replies));
	}

	@Test
	void theCommandsOnlyRead() {
		assertThat(written(scan())).isEqualTo("*8\r\n$4\r\nSCAN\r\n$1\r\n0\r\n$5\r\nMATCH\r\n$2\r\na*\r\n"
				+ "$5\r\nCOUNT\r\n$2\r\n50\r\n$4\r\nTYPE\r\n$4\r\nhash\r\n");
		this.page.addName(utf8("second"), 6, true);
		String type = "*2\r\n$4\r\nTYPE\r\n$6\r\nsecond\r\n";
		String ttl = "*2\r\n$4\r\nPTTL\r\n$6\r\nsecond\r\n";
		assertThat(written(facts(0))).isEqualTo(type + ttl);
		assertThat(written(facts(3))).isEqualTo(
				type + ttl + "*5\r\n$6\r\nMEMORY\r\n$5\r\nUSAGE\r\n$6\r\nsecond\r\n$7\r\nSAMPLES\r\n$1\r\n3\r\n");
		// Redis measures 5 unless it is told otherwise.
		assertThat(written(facts(5))).isEqualTo(type + ttl + "*3\r\n$6\r\nMEMORY\r\n$5\r\nUSAGE\r\n$6\r\nsecond\r\n");
	}

	private ScanExchange scan() {
		KeyQuery query = new KeyQuery(new KeyFilter("a*", "hash"), 50, (name) -> name.length == 0 || name[0] != 's', 5,
				1000, Duration.ofSeconds(1), () -> false, () -> false);
		return new ScanExchange(query, ScanPosition.START, null, this.page);
	}

	private FactsExchange facts(int samples) {
		return new FactsExchange(this.page, this.page.names(), samples);
	}

	private static void readByteByByte(ValueExchange exchange, String replies) {
		byte[] bytes = utf8(replies);
		for (int at = 0; at < bytes.length; at++) {
			assertThat(exchange.read(Unpooled.wrappedBuffer(bytes, at, 1))).isEqualTo(at == bytes.length - 1);
		}
	}

	private static void read(ValueExchange exchange, String replies) {
		ByteBuf in = Unpooled.wrappedBuffer(utf8(replies + "+PONG\r\n"));
		assertThat(exchange.read(in)).isTrue();
		assertThat(in.toString(StandardCharsets.UTF_8)).isEqualTo("+PONG\r\n");
	}

	private static String written(ValueExchange exchange) {
		ByteBuf out = Unpooled.buffer();
		exchange.writeTo(out);
		return out.toString(StandardCharsets.UTF_8);
	}

	private static byte[] utf8(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
