package io.pipeset.slab;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.Unpooled;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Results;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The memory for the replies to one write is bounded, if the report can do without them.
 */
class ReplyBoundTests {

	private static final int MIB = 1 << 20;

	private final ReplyReader reader = new ReplyReader();

	@ParameterizedTest
	@ValueSource(ints = { 1 << 16, 1 << 30 })
	void repliesBeyondTheBoundAreNotKeptAndTheirCommandsRan(int pieceBytes) {
		Slab slab = slab(Operation.SET, 1002, "k", "v", "GET");
		String value = "x".repeat(MIB - 20);
		read(slab, reply("+OK"), pieceBytes);
		for (int i = 0; i < 1000; i++) {
			read(slab, "$" + value.length() + "\r\n" + value + "\r\n", pieceBytes);
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
	void aNoopWhoseReplyIsNotKeptIsStillOne() {
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
	void errorsAndPoppedValuesAreKeptWhateverTheirSize() {
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
	@ValueSource(strings = { "$-1", "_" })
	void aNilBehindValuesSaysThatSomeWereLeft(String nil) {
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
		byte[] bytes = replies.getBytes(StandardCharsets.UTF_8);
		for (int from = 0; from < bytes.length; from += pieceBytes) {
			int length = Math.min(pieceBytes, bytes.length - from);
			this.reader.read(Unpooled.wrappedBuffer(bytes, from, length), slab.attempt());
		}
	}

	private static String reply(String lines) {
		return lines + "\r\n";
	}

	private static Slab slab(Operation operation, int commands, String... arguments) {
		Slab slab = new Slab();
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
