package io.pipeset.engine.slab.lookup;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.DecoderException;
import io.pipeset.record.memory.CountedReservation;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.record.memory.MemoryReservation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Values are read as Redis sent them, wherever the network cuts the replies. A reply of
 * another type is no value.
 */
class KeyLookupTests {

	private static final String REPLIES = "*2\r\n$2\r\n17\r\n*3\r\n$1\r\na\r\n$0\r\n\r\n$4\r\nx\r\ny\r\n"
			+ ">3\r\n$7\r\nmessage\r\n$-1\r\n*1\r\n:1\r\n+string\r\n:56\r\n:-1\r\n"
			+ "|1\r\n+key\r\n$5\r\nv\r\nal\r\n+none\r\n$-1\r\n:-2\r\n+ReJSON-RL\r\n_\r\n:123456789012\r\n";

	private final KeyTypes types = new KeyTypes();

	private final KeyPage keys = page("first", "second", "third");

	private final KeyPage next = new KeyPage(MemoryReservation.UNLIMITED);

	private final AtomicInteger scanned = new AtomicInteger();

	@Test
	void valuesAreReadWhereverRepliesAreCut() {
		byte[] replies = utf8(REPLIES);
		for (int cut = 0; cut <= replies.length; cut++) {
			this.next.clear();
			this.scanned.set(0);
			KeyLookup lookup = lookup();
			boolean early = lookup.read(Unpooled.wrappedBuffer(replies, 0, cut));
			assertThat(early).as("cut at %d", cut).isEqualTo(cut == replies.length);
			ByteBuf rest = Unpooled.wrappedBuffer(replies, cut, replies.length - cut);
			assertThat(early || lookup.read(rest)).as("cut at %d", cut).isTrue();
			assertValues(lookup);
		}
	}

	@Test
	void valuesAreReadByteByByte() {
		KeyLookup lookup = lookup();
		byte[] replies = utf8(REPLIES);
		for (int at = 0; at < replies.length; at++) {
			assertThat(lookup.read(Unpooled.wrappedBuffer(replies, at, 1))).isEqualTo(at == replies.length - 1);
		}
		assertValues(lookup);
	}

	@Test
	void keysThatDoNotMeetTheConditionAreRemoved() {
		this.keys.retain((bytes, from, to) -> bytes[from] != 's');
		assertThat(this.keys.count()).isEqualTo(2);
		assertThat(new String(this.keys.bytes(), 0, this.keys.end(1), StandardCharsets.UTF_8)).isEqualTo("firstthird");
		assertThat(this.keys.start(1)).isEqualTo(5);
		read(this.keys, "*2\r\n$1\r\n0\r\n*1\r\n$6\r\nfourth\r\n");
		assertThat(new String(this.keys.bytes(), this.keys.start(2), 6, StandardCharsets.UTF_8)).isEqualTo("fourth");
		this.keys.retain((bytes, from, to) -> false);
		assertThat(this.keys.count()).isZero();
	}

	@Test
	void bytesAfterTheLastReplyStayUnread() {
		KeyLookup lookup = lookup();
		ByteBuf in = Unpooled.wrappedBuffer(utf8(REPLIES + "+PONG\r\n"));
		assertThat(lookup.read(in)).isTrue();
		assertThat(in.toString(StandardCharsets.UTF_8)).isEqualTo("+PONG\r\n");
		lookup.forgetReplies();
		assertThat(lookup.isAnswered()).isFalse();
	}

	@Test
	void keysArriveBeforeTheOtherReplies() {
		lookup().read(Unpooled.wrappedBuffer(utf8("*2\r\n$1\r\n0\r\n*0\r\n")));
		assertThat(this.scanned).hasValue(1);
		assertThat(this.next.count()).isZero();
		assertThat(this.next.cursor()).isEqualTo(Scan.START);
	}

	@Test
	void errorsAreNotedByTheirQuestion() {
		KeyLookup lookup = lookup();
		String refused = "-NOPERM this user\r\n";
		lookup.read(Unpooled.wrappedBuffer(utf8("-LOADING Redis is loading\r\n" + refused + refused + ":5\r\n"
				+ "+set\r\n:1\r\n:-1\r\n+set\r\n-ERR last\r\n:-1\r\n")));
		assertThat(lookup.isAnswered()).isTrue();
		assertThat(lookup.errors()).containsOnlyKeys(Question.SCAN, Question.TYPE, Question.MEMORY_USAGE)
			.containsEntry(Question.SCAN, "LOADING Redis is loading")
			.containsEntry(Question.MEMORY_USAGE, "NOPERM this user");
		assertThat(this.scanned).hasValue(0);
	}

	@ParameterizedTest
	@ValueSource(strings = { ":1\r\n", "+OK\r\n", "$1\r\na\r\n", "*3\r\n", "*2\r\n*0\r\n",
			"*2\r\n$1\r\n0\r\n$1\r\na\r\n", "*2\r\n$1\r\n0\r\n*1\r\n:1\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$-1\r\n",
			"*2\r\n$1\r\n0\r\n*1\r\n-ERR\r\n", "*2\r\n$21\r\n012345678901234567890\r\n", "%1\r\n", "_\r\n", "hello\r\n",
			"\r\n", ":\r\n", "*2\r\n$1\r\n0\r\n*0\r\n:1\r\n", "*2\r\n$1\r\n0\r\n*0\r\n+set\r\n+set\r\n",
			"*2\r\n$1\r\n0\r\n*0\r\n+set\r\n:1\r\n$-1\r\n", "*2\r\n$1\r\n0\r\n*0\r\n+set\r\n:1x\r\n" })
	void aReplyOfAnotherTypeIsRefused(String replies) {
		assertThatExceptionOfType(DecoderException.class)
			.isThrownBy(() -> lookup().read(Unpooled.wrappedBuffer(utf8(replies))));
	}

	@Test
	void theCommandsOnlyRead() {
		ByteBuf out = Unpooled.buffer();
		new KeyLookup(this.types).scan(new Scan("a*", "hash", 50), "17", this.next, () -> {
		}).keys(this.keys, 1, 2, 3).writeTo(out);
		assertThat(out.toString(StandardCharsets.UTF_8))
			.isEqualTo("*8\r\n$4\r\nSCAN\r\n$2\r\n17\r\n$5\r\nMATCH\r\n$2\r\na*\r\n"
					+ "$5\r\nCOUNT\r\n$2\r\n50\r\n$4\r\nTYPE\r\n$4\r\nhash\r\n*2\r\n$4\r\nTYPE\r\n$6\r\nsecond\r\n"
					+ "*5\r\n$6\r\nMEMORY\r\n$5\r\nUSAGE\r\n$6\r\nsecond\r\n$7\r\nSAMPLES\r\n$1\r\n3\r\n"
					+ "*2\r\n$4\r\nPTTL\r\n$6\r\nsecond\r\n");
		out.clear();
		new KeyLookup(this.types).keys(this.keys, 0, 1, 0).writeTo(out);
		assertThat(out.toString(StandardCharsets.UTF_8))
			.isEqualTo("*2\r\n$4\r\nTYPE\r\n$5\r\nfirst\r\n*2\r\n$4\r\nPTTL\r\n$5\r\nfirst\r\n");
	}

	@Test
	void keysWithoutMemoryAreCountedAndScannedAgainWithMemory() {
		CountedReservation room = new CountedReservation(150_000);
		room.reserve(100_000);
		KeyPage page = new KeyPage(room);
		String replies = "*2\r\n$1\r\n9\r\n*2\r\n$100000\r\n" + "x".repeat(100_000) + "\r\n$1\r\na\r\n";
		read(page, replies);
		assertThat(page.isTooLarge()).isTrue();
		assertThat(page.cursor()).isEqualTo("9");
		assertThatExceptionOfType(MemoryLimitException.class).isThrownBy(page::ensureCapacity);
		assertThat(room.held().get()).isEqualTo(100_000);
		read(page, replies);
		room.release(100_000);
		page.ensureCapacity();
		read(page, replies);
		assertThat(page.count()).isEqualTo(2);
		assertThat(page.end(1)).isEqualTo(100_001);
		page.close();
		assertThat(room.held().get()).isZero();
	}

	private static void read(KeyPage page, String replies) {
		KeyLookup lookup = new KeyLookup(new KeyTypes()).scan(new Scan(null, null, 10), Scan.START, page, () -> {
		});
		assertThat(lookup.read(Unpooled.wrappedBuffer(utf8(replies)))).isTrue();
	}

	private KeyLookup lookup() {
		return new KeyLookup(this.types)
			.scan(new Scan(null, null, 1000), Scan.START, this.next, this.scanned::incrementAndGet)
			.keys(this.keys, 0, 3, 5);
	}

	private void assertValues(KeyLookup lookup) {
		assertThat(lookup.isAnswered()).isTrue();
		assertThat(lookup.errors()).isEmpty();
		assertThat(this.scanned).hasValue(1);
		assertThat(this.next.cursor()).isEqualTo("17");
		List<String> found = new ArrayList<>();
		for (int key = 0; key < this.next.count(); key++) {
			found.add(new String(this.next.bytes(), this.next.start(key), this.next.end(key) - this.next.start(key),
					StandardCharsets.UTF_8));
		}
		assertThat(found).containsExactly("a", "", "x\r\ny");
		List<Object> values = new ArrayList<>();
		for (int key = 0; key < 3; key++) {
			values.addAll(List.of(this.types.name(this.keys.type(key)), this.keys.size(key), this.keys.ttl(key)));
		}
		assertThat(values).containsExactly("string", 56L, -1L, "none", KeyPage.UNKNOWN, -2L, "ReJSON-RL",
				KeyPage.UNKNOWN, 123456789012L);
	}

	private static KeyPage page(String... keys) {
		KeyPage page = new KeyPage(MemoryReservation.UNLIMITED);
		StringBuilder reply = new StringBuilder("*2\r\n$1\r\n0\r\n*" + keys.length + "\r\n");
		for (String key : keys) {
			reply.append("$" + key.length() + "\r\n" + key + "\r\n");
		}
		read(page, reply.toString());
		return page;
	}

	private static byte[] utf8(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
