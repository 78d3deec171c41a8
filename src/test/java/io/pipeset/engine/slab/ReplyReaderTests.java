package io.pipeset.engine.slab;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.DecoderException;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Item;
import io.pipeset.report.Outcome;
import io.pipeset.report.Results;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ReplyReaderTests {

	private static final Loss LOSS = new Loss(Loss.CONNECTION_LOST, "cut");

	@ParameterizedTest
	@ValueSource(strings = { "+OK\r\n", "+\r\n", "+QUEUED\r\n", ":0\r\n", ":-9223372036854775808\r\n", "$0\r\n\r\n",
			"$5\r\nhello\r\n", "$4\r\n\r\n\r\n\r\n", "$14\r\n-ERR\r\n:1\r\n+OK\r\r\n", "*0\r\n", "*2\r\n+OK\r\n$-1\r\n",
			"*2\r\n*1\r\n*1\r\n:1\r\n*0\r\n", "*1\r\n-ERR inside\r\n", ",3.14\r\n", ",-inf\r\n", "#t\r\n", "#f\r\n",
			"(3492890328409238509324850943850943825024385\r\n", "=15\r\ntxt:Some string\r\n",
			"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n_\r\n", "~3\r\n+a\r\n:1\r\n#t\r\n", "%0\r\n", "~0\r\n",
			"|1\r\n+ttl\r\n:3600\r\n$5\r\nhello\r\n", ">2\r\n+message\r\n*1\r\n-x\r\n:7\r\n",
			"*2\r\n|1\r\n+a\r\n_\r\n:1\r\n-ERR inside\r\n", "*1\r\n!5\r\nwrong\r\n", "*1\r\n*-1\r\n" })
	void everyTypeIsOneAppliedReplyWhereverItIsCut(String reply) {
		readAtEveryCut("+OK\r\n" + reply + "+OK\r\n", 3, (account) -> {
			assertThat(account.total(Outcome.APPLIED)).isEqualTo(3);
			assertThat(account.items()).isEmpty();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "-WRONGTYPE Operation against a key\r\n", "!34\r\nWRONGTYPE Operation against a key \r\n",
			"|1\r\n+a\r\n*1\r\n+b\r\n-WRONGTYPE Operation against a key\r\n" })
	void errorIsFoundByItsPositionWhereverItIsCut(String reply) {
		readAtEveryCut("+OK\r\n:1\r\n" + reply + "+OK\r\n", 4, (account) -> {
			assertThat(account.total(Outcome.APPLIED)).isEqualTo(3);
			Item item = account.items().get(0);
			assertThat(item.index()).isEqualTo(2);
			assertThat(item.key()).isEqualTo("k2");
			assertThat(item.error()).isNotNull();
			assertThat(item.error().code()).isEqualTo("WRONGTYPE");
			assertThat(item.error().message()).startsWith("WRONGTYPE Operation against a key");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "_\r\n", "$-1\r\n", "*-1\r\n", "|1\r\n+a\r\n+b\r\n_\r\n" })
	void nilIsNoopWhereverItIsCut(String reply) {
		readAtEveryCut("+OK\r\n" + reply + "+OK\r\n", 3, (account) -> {
			assertThat(account.total(Outcome.APPLIED)).isEqualTo(2);
			assertThat(account.total(Outcome.NOOP)).isEqualTo(1);
		});
	}

	@Test
	void repliesAreDecodedWhenAllAreWanted() {
		Slab slab = sets(8, true);
		read(slab,
				"+OK\r\n:-5\r\n$3\r\n\u00e2\u0082\u00ac\r\n*2\r\n:1\r\n*1\r\n+a\r\n#t\r\n$2\r\n\u00ff\u00fe\r\n$-1\r\n"
						+ "=7\r\ntxt:abc\r\n");
		Account account = new Account(Results.ALL, 10, false);
		slab.settle(account, LOSS);
		assertThat(account.items()).extracting((item) -> item.reply().value())
			.containsExactly("OK", -5L, "\u20ac", List.of(1L, List.of("a")), true, Map.of("base64", "//4="), null,
					"abc");
	}

	@Test
	void everyTypeOfReplyHasItsJson() {
		Slab slab = sets(9, true);
		read(slab, ",2.5\r\n,inf\r\n,nan\r\n(12345678901234567890\r\n%2\r\n+a\r\n:1\r\n$1\r\nb\r\n_\r\n"
				+ "%1\r\n:1\r\n+a\r\n~2\r\n:1\r\n#f\r\n$0\r\n\r\n*0\r\n");
		Account account = new Account(Results.ALL, 10, false);
		slab.settle(account, LOSS);
		Map<String, Object> map = new LinkedHashMap<>();
		map.put("a", 1L);
		map.put("b", null);
		assertThat(account.items()).extracting((item) -> item.reply().value())
			.containsExactly(2.5, "inf", "nan", new BigInteger("12345678901234567890"), map, List.of(List.of(1L, "a")),
					List.of(1L, false), "", List.of());
	}

	@Test
	void aReplyIsShownToABoundedDepth() {
		Slab slab = sets(2, true);
		read(slab, "*2\r\n".repeat(5_000) + ":7\r\n".repeat(5_001) + "+OK\r\n");
		Account account = new Account(Results.ALL, 10, false);
		slab.settle(account, LOSS);
		assertThat(account.items()).extracting((item) -> item.reply().value()).last().isEqualTo("OK");
		Object value = account.items().get(0).reply().value();
		int depth = 0;
		for (; value instanceof List<?> list; value = list.get(0)) {
			depth++;
		}
		assertThat(depth).isEqualTo(64);
		assertThat(value).isEqualTo("(nested too deep to be shown)");
	}

	@Test
	void nestedErrorsAndNilsDoNotMakeTheReplyOne() {
		Slab slab = sets(2, false);
		read(slab, "*2\r\n-ERR x\r\n$-1\r\n*1\r\n_\r\n");
		Account account = new Account(Results.ERRORS, 10, false);
		slab.settle(account, LOSS);
		assertThat(account.total(Outcome.APPLIED)).isEqualTo(2);
	}

	@Test
	void errorsScatteredAmongAMillionRepliesAreFoundAtAnyCut() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		int slabs = 50;
		int commands = 20_000;
		Set<Integer> errors = random.ints(1000, 0, slabs * commands).boxed().collect(Collectors.toSet());
		StringBuilder replies = new StringBuilder();
		for (int reply = 0; reply < slabs * commands; reply++) {
			replies.append((errors.contains(reply)) ? "-ERR number " + reply + "\r\n" : "+OK\r\n");
		}
		ByteBuf all = utf8(replies.toString());
		Set<Integer> found = new HashSet<>();
		for (int done = 0; done < slabs; done++) {
			Slab slab = sets(commands, false);
			ByteBuf piece = all.readSlice(0);
			while (!slab.attempt().read(piece)) {
				piece = all.readSlice(Math.min(all.readableBytes(), 1 + random.nextInt(5000)));
			}
			all.readerIndex(all.readerIndex() - piece.readableBytes());
			Account account = new Account(Results.ERRORS, commands, false);
			slab.settle(account, LOSS);
			for (Item item : account.items()) {
				int reply = done * commands + (int) item.index();
				assertThat(item.error().message()).as("seed %d", seed).isEqualTo("ERR number " + reply);
				found.add(reply);
			}
		}
		assertThat(all.isReadable()).as("seed %d", seed).isFalse();
		assertThat(found).as("seed %d", seed).isEqualTo(errors);
	}

	@Test
	void bytesAfterTheLastReplyStayUnread() {
		Slab slab = sets(1, false);
		ByteBuf in = utf8("+OK\r\n+PONG\r\n");
		assertThat(slab.attempt().read(in)).isTrue();
		assertThat(in.toString(StandardCharsets.UTF_8)).isEqualTo("+PONG\r\n");
	}

	@Test
	void hugeBulkIsSkippedWithoutBeingKept() {
		Slab slab = sets(2, false);
		read(slab, "$3000000\r\n" + "x".repeat(3_000_000) + "\r\n+OK\r\n");
		assertThat(slab.replies().notableReplies().count()).isZero();
		assertThat(slab.isAnswered()).isTrue();
	}

	@Test
	void anExistingValueMakesANoopWithoutBeingKept() {
		Slab slab = sets(3, false, "NX", "GET");
		read(slab, "$300000\r\n" + "x".repeat(300_000) + "\r\n_\r\n$0\r\n\r\n");
		Account account = new Account(Results.ERRORS, 10, false);
		slab.settle(account, LOSS);
		assertThat(slab.replies().notableReplies().bytes(0)).isZero();
		assertThat(account.total(Outcome.NOOP)).isEqualTo(2);
		assertThat(account.total(Outcome.APPLIED)).isOne();
	}

	@Test
	void anUnknownTypeOfReplyIsAnError() {
		Slab slab = sets(1, false);
		assertThatExceptionOfType(DecoderException.class).isThrownBy(() -> read(slab, "HTTP/1.1 400\r\n"))
			.withMessageContaining("'H'");
	}

	@Test
	void unansweredCommandsAreUnknownIfWrittenAndUnprocessedIfNot() {
		Slab written = sets(3, false);
		written.attempt().writeTo(Unpooled.buffer());
		written.attempt().read(utf8("+OK\r\n+O"));
		Slab unwritten = sets(2, false);
		Account account = new Account(Results.ERRORS, 10, false);
		written.settle(account, LOSS);
		unwritten.settle(account, LOSS);
		assertThat(account.total(Outcome.APPLIED)).isEqualTo(1);
		assertThat(account.total(Outcome.UNKNOWN)).isEqualTo(2);
		assertThat(account.total(Outcome.UNPROCESSED)).isEqualTo(2);
		assertThat(account.bytesSent()).isEqualTo(written.bytes());
		assertThat(account.items()).extracting((item) -> item.error().code())
			.containsExactlyInAnyOrder("CONNECTION_LOST", "CONNECTION_LOST", "NOT_SENT", "NOT_SENT");
	}

	private void readAtEveryCut(String replies, int commands, Consumer<Account> check) {
		readAtEveryCut(replies, () -> sets(commands, false), check);
	}

	private void readAtEveryCut(String replies, Supplier<Slab> slabs, Consumer<Account> check) {
		int length = utf8(replies).readableBytes();
		for (int cut = 0; cut <= length; cut++) {
			Slab slab = slabs.get();
			ByteBuf in = utf8(replies);
			boolean early = slab.attempt().read(in.readSlice(cut));
			assertThat(early).as("cut at %d", cut).isEqualTo(cut == length);
			if (!early) {
				assertThat(slab.attempt().read(in)).as("cut at %d", cut).isTrue();
			}
			Account account = new Account(Results.ERRORS, 10, false);
			slab.settle(account, LOSS);
			check.accept(account);
		}
	}

	private void read(Slab slab, String replies) {
		assertThat(slab.attempt().read(Unpooled.copiedBuffer(replies, StandardCharsets.ISO_8859_1))).isTrue();
	}

	private static ByteBuf utf8(String text) {
		return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
	}

	/** A slab of SETs with NX, for which a nil means a no-op. */
	private static Slab sets(int commands, boolean captureAll) {
		return sets(commands, captureAll, "NX");
	}

	private static Slab sets(int commands, boolean captureAll, String... options) {
		Slab slab = new Slab();
		slab.clear(captureAll, false);
		Record record = new Record();
		for (int i = 0; i < commands; i++) {
			byte[] key = ("k" + i).getBytes(StandardCharsets.UTF_8);
			record.begin(0);
			record.operation(Operation.SET);
			record.argument(key, 0, key.length);
			record.argument(key, 0, key.length);
			for (String option : options) {
				byte[] bytes = option.getBytes(StandardCharsets.UTF_8);
				record.argument(bytes, 0, bytes.length);
			}
			record.check();
			assertThat(slab.add(record)).isTrue();
		}
		return slab;
	}

}
