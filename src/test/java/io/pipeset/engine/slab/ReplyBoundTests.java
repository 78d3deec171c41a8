package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.Unpooled;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.memory.CountedReservation;
import io.pipeset.record.memory.MemoryReservation;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Results;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The memory for the replies to one write is bounded if the report can do without them.
 */
class ReplyBoundTests {

	private static final int MIB = 1 << 20;

	@ParameterizedTest
	@ValueSource(ints = { 1 << 16, 1 << 30 })
	void commandsRanEvenIfTheirRepliesExceedTheBound(int pieceBytes) {
		Slab slab = slab(Operation.SET, 1002, "k", "v", "GET");
		String value = "x".repeat(MIB - 20);
		read(slab, reply("+OK"), pieceBytes);
		byte[] reply = ("$" + value.length() + "\r\n" + value + "\r\n").getBytes(StandardCharsets.UTF_8);
		for (int i = 0; i < 1000; i++) {
			read(slab, reply, pieceBytes);
		}
		read(slab, reply(":7"), pieceBytes);
		Account account = new Account(Results.ALL, 2000, false);
		slab.settle(account, null);
		assertThat(account.counts()).isEqualTo(new Counts(1002, 1002, 0, 0, 0, 0));
		assertThat(account.items()).hasSize(6);
		assertThat(account.items().get(4).reply().value()).isEqualTo(value);
		assertThat(account.items().get(5).index()).isEqualTo(1001);
		assertThat(account.items().get(5).reply().value()).isEqualTo(7L);
		assertThat(account.itemsOmitted()).isEqualTo(996);
	}

	@Test
	void aNoopIsKnownEvenIfItsReplyIsNotKept() {
		Slab slab = slab(Operation.SET, 3, "k", "v", "NX", "GET");
		String value = "x".repeat(5 * MIB);
		read(slab, "$" + value.length() + "\r\n" + value + "\r\n", 1 << 16);
		read(slab, reply("_") + reply("$1\r\na"), 1 << 16);
		Account account = new Account(Results.ALL, 10, false);
		slab.settle(account, null);
		assertThat(account.counts()).isEqualTo(new Counts(3, 1, 2, 0, 0, 0));
		assertThat(account.items()).extracting((item) -> item.index()).containsExactly(1L, 2L);
		assertThat(account.itemsOmitted()).isOne();
	}

	@Test
	void poppedValuesAreKeptWhateverTheirSize() {
		Slab slab = slab(Operation.RPOP, 3, "k");
		String value = "x".repeat(5 * MIB);
		read(slab, "$" + value.length() + "\r\n" + value + "\r\n" + reply("-BIG " + value) + reply("$1\r\na"), 1 << 16);
		Account account = new Account(Results.ALL, 10, false);
		slab.settle(account, null);
		assertThat(account.counts()).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		assertThat(account.items()).hasSize(3);
		assertThat(account.taken().bytes()).isEqualTo(value.length() + 1);
		assertThat(account.taken().largestBytes()).isEqualTo(value.length());
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 7, 1 << 16 })
	void onlyTheStartOfALongErrorIsKept(int pieceBytes) {
		Slab slab = slab(Operation.RPOP, 6, "k");
		String text = "BIG " + "x".repeat(100_000);
		String wide = "BIG " + "\u00e9".repeat(100_000);
		String nearly = "BIG " + "x".repeat(505);
		read(slab, reply("-" + text) + reply("!" + text.length() + "\r\n" + text) + reply("-" + wide)
				+ reply("-" + nearly) + reply("|1\r\n+" + text + "\r\n+" + text + "\r\n-BIG") + reply("$1\r\na"),
				pieceBytes);
		Account account = new Account(Results.ALL, 10, false);
		slab.settle(account, null);
		assertThat(account.counts()).isEqualTo(new Counts(6, 1, 0, 5, 0, 0));
		List<String> messages = account.items().stream().limit(5).map((item) -> item.error().message()).toList();
		assertThat(messages.subList(0, 2)).allSatisfy(
				(message) -> assertThat(message).startsWith("BIG xxx").endsWith("x...").hasSizeBetween(490, 514));
		assertThat(messages.get(2)).startsWith("BIG \u00e9\u00e9").endsWith("\u00e9...").hasSizeBetween(250, 262);
		assertThat(messages.subList(3, 5)).containsExactly(nearly, "BIG");
		assertThat(account.items()).element(0).satisfies((item) -> assertThat(item.error().code()).isEqualTo("BIG"));
	}

	@Test
	void errorsTakeMemoryAndAreShorterWithoutIt() {
		CountedReservation memory = new CountedReservation(10 * MIB);
		Slab slab = slab(memory, Operation.LPUSH, 10_000, "k", "v");
		long filled = memory.held().get();
		memory.reserve(10 * MIB - filled - MIB / 4);
		String error = reply("-BIG " + "x".repeat(1000));
		for (int i = 0; i < 10_000; i++) {
			read(slab, error, 1 << 16);
		}
		assertThat(memory.held().get()).isBetween(10L * MIB - MIB / 8, 10L * MIB);
		Account account = new Account(Results.ERRORS, 10_000, false);
		slab.settle(account, null);
		assertThat(account.items()).hasSize(10_000).allSatisfy((item) -> {
			assertThat(item.error().code()).isEqualTo("BIG");
			assertThat(item.error().message()).endsWith("x...");
		});
		assertThat(account.items().get(0).error().message()).hasSizeGreaterThan(500);
		assertThat(account.items().get(9999).error().message()).hasSizeLessThan(64);
		slab.clear(true, false);
		assertThat(memory.held().get()).isLessThanOrEqualTo(10L * MIB - MIB / 4);
	}

	@ParameterizedTest
	@ValueSource(strings = { "$-1", "_" })
	void aNilAfterValuesSaysThatSomeWereLeftInRedis(String nil) {
		Slab slab = slab(Operation.RPOP, 2, "k", "10");
		read(slab, "*2\r\n$1\r\na\r\n$2\r\nbc\r\n", 1);
		Account account = new Account(Results.ERRORS, 10, false);
		assertThat(slab.isAnswered()).isFalse();
		read(slab, "*3\r\n$1\r\na\r\n$2\r\nbc\r\n" + nil + "\r\n", 1);
		slab.settle(account, null);
		assertThat(account.counts()).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(account.items()).extracting((item) -> item.reply().value()).containsOnly(List.of("a", "bc"));
		assertThat(account.taken().count()).isEqualTo(4);
		assertThat(account.taken().bytes()).isEqualTo(6);
		assertThat(account.taken().isCutShort()).isTrue();
	}

	private void read(Slab slab, String replies, int pieceBytes) {
		read(slab, replies.getBytes(StandardCharsets.UTF_8), pieceBytes);
	}

	private void read(Slab slab, byte[] bytes, int pieceBytes) {
		for (int from = 0; from < bytes.length; from += pieceBytes) {
			int length = Math.min(pieceBytes, bytes.length - from);
			slab.attempt().read(Unpooled.wrappedBuffer(bytes, from, length));
		}
	}

	private static String reply(String lines) {
		return lines + "\r\n";
	}

	private static Slab slab(Operation operation, int commands, String... arguments) {
		return slab(MemoryReservation.UNLIMITED, operation, commands, arguments);
	}

	private static Slab slab(MemoryReservation memory, Operation operation, int commands, String... arguments) {
		Slab slab = new Slab(0, 0, memory);
		slab.clear(true, false);
		Record record = new Record();
		for (int i = 0; i < commands; i++) {
			record.begin(0);
			record.operation(operation);
			for (String argument : arguments) {
				byte[] bytes = argument.getBytes(StandardCharsets.UTF_8);
				record.argument(bytes, 0, bytes.length);
			}
			record.check();
			assertThat(slab.add(record)).isTrue();
		}
		return slab;
	}

}
