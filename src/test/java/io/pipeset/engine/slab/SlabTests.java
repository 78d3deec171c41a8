package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.pipeset.record.Effect;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.memory.MemoryReservation;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Item;
import io.pipeset.report.Results;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A slab is filled, written, reduced to the commands to send again, settled, and reused.
 */
class SlabTests {

	private static final Loss LOSS = new Loss(Loss.CONNECTION_LOST, "gone");

	private final FilledSlabs slabs = new FilledSlabs();

	private final Account account = new Account(Results.ALL, 100, false);

	@Test
	void itWritesItsCommandsAsResp() {
		Slab slab = this.slabs.slab("SET a 1", "DEL b", "DEL c");
		assertThat(resp(slab)).isEqualTo("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$3\r\nDEL\r\n$1\r\nb\r\n"
				+ "*2\r\n$3\r\nDEL\r\n$1\r\nc\r\n");
		assertThat(slab.bytes()).isEqualTo(resp(slab).length());
	}

	@Test
	void itsSizeIncludesItsTransactionAndItsScripts() {
		Slab slab = this.slabs.transaction("SET a 1", "EVALSHA " + FilledSlabs.SHA + " 1 a");
		assertThat(slab.bytes()).isEqualTo(resp(slab).length());
	}

	@Test
	void itCopiesTheRecords() {
		byte[] key = { 'a' };
		byte[] value = { '1' };
		Slab slab = new Slab();
		slab.clear(false, false);
		Record record = record(RecordDefaults.NONE, Operation.SET, key, value);
		assertThat(slab.add(record)).isTrue();
		Arrays.fill(key, (byte) 'z');
		Arrays.fill(value, (byte) 'z');
		record.begin(7);
		assertThat(FilledSlabs.commands(slab)).containsExactly("SET a 1");
		assertThat(slab.commands().key(0)).isEqualTo("a");
		assertThat(slab.firstIndex()).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void onlyTheFirstCommandMayBeLargerThanAWrite(boolean atomic) {
		int most = (atomic) ? Slab.MAX_ATOMIC_BYTES : Slab.MAX_BYTES;
		Slab slab = new Slab();
		slab.clear(false, atomic);
		Record large = record(RecordDefaults.NONE, Operation.SET, new byte[1], new byte[most]);
		assertThat(slab.add(large)).isTrue();
		assertThat(slab.add(record(RecordDefaults.NONE, Operation.DEL, new byte[1]))).isFalse();
		assertThat(slab.count()).isOne();
		slab.clear(false, atomic);
		assertThat(slab.add(record(RecordDefaults.NONE, Operation.DEL, new byte[1]))).isTrue();
		assertThat(slab.add(large)).isFalse();
		assertThat(slab.bytes()).isLessThan(most);
	}

	@Test
	void itNotesBothTheOperationAndTheCommandSent() {
		Slab slab = new Slab();
		slab.clear(false, false);
		RecordDefaults expiring = new RecordDefaults(60L, null, null, 0, Encoding.BASE64);
		assertThat(slab.add(record(expiring, Operation.HSET, bytes("h"), bytes("f"), bytes("v")))).isTrue();
		assertThat(slab.add(record(RecordDefaults.NONE, Operation.RPOP, bytes("l")))).isTrue();
		CommandTable table = slab.commands().table();
		assertThat(table.operation(0)).isEqualTo(Operation.HSET);
		assertThat(table.sentAs(0)).isEqualTo(Operation.EVALSHA);
		assertThat(table.effect(0)).isEqualTo(Effect.REPEATABLE);
		assertThat(table.encoding(0)).isEqualTo(Encoding.BASE64);
		assertThat(table.operation(1)).isEqualTo(Operation.RPOP);
		assertThat(table.sentAs(1)).isEqualTo(Operation.RPOP);
		assertThat(table.effect(1)).isEqualTo(Effect.POP);
		assertThat(table.encoding(1)).isEqualTo(Encoding.UTF8);
		assertThat(slab.commands().keys(0)).hasSize(1);
		assertThat(slab.commands().isScriptLoaded(0)).isTrue();
	}

	@Test
	void itNotesEveryKindOfCommand() {
		CommandTable table = new CommandTable(Operation.values().size() * Effect.values().length,
				MemoryReservation.UNLIMITED);
		for (Operation operation : Operation.values()) {
			Record record = new Record(new RecordDefaults(null, null, null, 0, Encoding.BASE64),
					MemoryReservation.UNLIMITED);
			record.begin(0);
			record.operation(operation);
			int row = table.count();
			assertThat(table.add(record, row, false)).isTrue();
			assertThat(table.operation(row)).isEqualTo(operation);
			assertThat(table.sentAs(row)).isEqualTo(operation);
			assertThat(table.effect(row)).isEqualTo(operation.effect());
			assertThat(table.needsReply(row)).isEqualTo(operation.effect().needsReply());
			assertThat(table.encoding(row)).isEqualTo(Encoding.BASE64);
		}
	}

	@Test
	void itGrowsWithItsRecords() {
		String[] commands = new String[1000];
		for (int i = 0; i < commands.length; i++) {
			commands[i] = "SET key-" + i + " " + "v".repeat(i % 50);
		}
		Slab slab = this.slabs.slab(commands);
		assertThat(FilledSlabs.commands(slab))
			.containsExactly(Arrays.stream(commands).map(String::strip).toArray(String[]::new));
		assertThat(slab.lastIndex()).isEqualTo(999);
		assertThat(slab.commands().table().id(999)).isEqualTo("id-999");
	}

	@Test
	void onlyMarkedCommandsAreSentAgain() {
		Slab slab = this.slabs.slab("SET a 1", "LPUSH l x", "EVALSHA " + FilledSlabs.SHA + " 1 s", "DEL b c");
		slab.toResend().set(1);
		slab.toResend().set(3);
		assertThat(slab.retry()).isTrue();
		assertThat(FilledSlabs.commands(slab).subList(1, 3)).containsExactly("LPUSH l x", "DEL b c");
		assertThat(slab.commands().table().operation(0)).isEqualTo(Operation.LPUSH);
		assertThat(slab.commands().table().effect(0)).isEqualTo(Effect.ONCE);
		assertThat(slab.commands().keys(1)).hasSize(2);
		assertThat(slab.commands().key(1)).isEqualTo("b");
		assertThat(slab.firstIndex()).isEqualTo(1);
		assertThat(slab.lastIndex()).isEqualTo(3);
		assertThat(slab.toResend().isEmpty()).isTrue();
		assertThat(slab.retry()).isFalse();
		assertThat(slab.count()).isZero();
		assertThat(slab.bytes()).isZero();
	}

	@Test
	void aCommandThatIsSentAgainKeepsItsOwnId() {
		Slab slab = this.slabs.slab("SET a 1");
		Record record = new Record();
		for (int i = 0; i < 40; i++) {
			record.begin(0);
			record.operation(Operation.SET);
			record.argument(new byte[] { 'k' }, 0, 1);
			record.argument(new byte[] { 'v' }, 0, 1);
			assertThat(slab.add(record)).isTrue();
		}
		FilledSlabs.written(slab, FilledSlabs.OK.repeat(30));
		ResendRules.mark(List.of(slab), true, true);
		slab.settle(this.account, LOSS);
		assertThat(slab.retry()).isTrue();
		assertThat(slab.count()).isEqualTo(11);
		assertThat(slab.commands().table().id(0)).isNull();
	}

	@Test
	void everyCommandIsSettledOnce() {
		Slab slab = FilledSlabs.written(this.slabs.slab("SET a 1", "SET b 2 NX", "SADD c 3", "RPOP l", "SET d 4"),
				"+OK\r\n$-1\r\n-WRONGTYPE no\r\n$1\r\nx\r\n");
		slab.attempt().end();
		slab.settle(this.account, LOSS);
		assertThat(this.account.counts()).isEqualTo(new Counts(5, 2, 1, 1, 1, 0));
		assertThat(this.account.items()).extracting(Item::index).containsExactly(0L, 1L, 2L, 3L, 4L);
		assertThat(slab.isDone()).isTrue();
	}

	@Test
	void unwrittenCommandsAreUnprocessed() {
		Slab slab = this.slabs.slab("SET a 1", "SET b 2");
		slab.settle(this.account, null);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 0, 0, 2));
		assertThat(this.account.bytesSent()).isZero();
	}

	@Test
	void commandsAreUnwrittenIfTheSocketTookNothing() {
		Slab slab = FilledSlabs.written(this.slabs.slab("SET a 1"), "");
		slab.attempt().endWasNotSent();
		assertThat(slab.isUnknown()).isTrue();
		slab.attempt().nothingWasSent();
		assertThat(slab.isUnknown()).isFalse();
		slab.attempt().abandon();
		assertThat(slab.isUnknown()).isTrue();
	}

	@Test
	void valuesReadFromAnotherListReplaceLostReplies() {
		Slab slab = FilledSlabs.written(this.slabs.slab("RPOP l", "RPOP l", "RPOP l"), "$1\r\na\r\n$5\r\nb");
		Queue<byte[]> values = new ArrayDeque<>(List.of(bytes("bbbbb")));
		slab.resolve(values);
		assertThat(values).isEmpty();
		assertThat(slab.isUnknown()).isFalse();
		slab.settle(this.account, null);
		assertThat(this.account.counts()).isEqualTo(new Counts(3, 2, 0, 0, 0, 1));
		assertThat(this.account.items()).extracting((item) -> (item.reply() != null) ? item.reply().value() : null)
			.containsExactly("a", "bbbbb", null);
	}

	@Test
	void itsOldStateIsForgottenWhenItIsReused() {
		Slab slab = FilledSlabs.written(this.slabs.transaction("SET a 1", "EVALSHA " + FilledSlabs.SHA + " 1 a"), "");
		slab.attempt().end();
		slab.toResend().set(1);
		this.slabs.fill(slab, false, "SET c 1");
		assertThat(FilledSlabs.commands(slab)).containsExactly("SET c 1");
		assertThat(List.of(slab.isDone(), slab.isWritten(), slab.isAtomic(), slab.isAnswered())).containsOnly(false);
		assertThat(slab.toResend().isEmpty()).isTrue();
	}

	private static Record record(RecordDefaults defaults, Operation operation, byte[]... arguments) {
		Record record = new Record(defaults, MemoryReservation.UNLIMITED);
		record.begin(0);
		record.operation(operation);
		for (byte[] argument : arguments) {
			record.argument(argument, 0, argument.length);
		}
		record.check();
		assertThat(record.rejection()).isNull();
		return record;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String resp(Slab slab) {
		ByteBuf out = Unpooled.buffer();
		slab.commands().writeTo(out, new CoalescedCommands(slab.commands()), slab.count(), false);
		return out.toString(StandardCharsets.UTF_8);
	}

}
