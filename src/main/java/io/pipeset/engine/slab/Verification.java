package io.pipeset.engine.slab;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.memory.MemoryReservation;
import io.pipeset.report.Account;
import io.pipeset.report.Item;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;
import io.pipeset.report.OutcomeLog;
import io.pipeset.report.Verified;
import org.jspecify.annotations.Nullable;

/**
 * Compares the records of a job with what Redis has, instead of writing them. Records
 * that differ are remembered until the end of the job, because a later record may have
 * written over them.
 */
public final class Verification {

	private static final int MAX_FOUND_BYTES = 256;

	/** The most bytes of records that are kept to read them once more. */
	private static final int MAX_KEPT_BYTES = 16 << 20;

	private static final Failure DIFFERENT = new Failure(Verified.DIFFERENT, "Redis has something else", true);

	private static final Failure MISSING = new Failure(Verified.MISSING, "The key is not in Redis", true);

	private final boolean expiries;

	private final MemoryReservation memory;

	private final Consumer<String> stop;

	private final Differences differences;

	private final RecordCheck check = new RecordCheck();

	/** The records that are read once more; {@code null} while the job runs. */
	private @Nullable List<Look> looks;

	private long keptBytes;

	private long same;

	private long incomparable;

	private long superseded;

	private long different;

	private long missing;

	/**
	 * Begins to verify.
	 * @param expiries whether to compare what sets or removes an expiry
	 * @param stop stops the job, for a reason
	 */
	public Verification(boolean expiries, MemoryReservation memory, Consumer<String> stop) {
		this.expiries = expiries;
		this.memory = memory;
		this.stop = stop;
		this.differences = new Differences(memory);
	}

	/** The records so far. */
	public synchronized Verified verified() {
		return new Verified(this.same, this.different, this.missing, this.superseded, this.incomparable);
	}

	/** Writes the commands that read what the first commands should have left. */
	void writeTo(ByteBuf out, Commands commands, int count) {
		RecordCheck reads = new RecordCheck();
		for (int command = 0; command < count; command++) {
			read(reads, commands, command);
			reads.writeTo(out);
		}
	}

	private void read(RecordCheck reads, Commands commands, int command) {
		CommandTable table = commands.table();
		reads.read(commands.resp(), commands.start(command), table.operation(command), table.sentAs(command),
				this.expiries);
	}

	/** Whether the reply to a record matters, so that an error rejects the record. */
	synchronized boolean compares(Commands commands, int command) {
		read(this.check, commands, command);
		return this.check.kind().isComparable();
	}

	/**
	 * Adds a record.
	 * @param reply the bytes of the reply; {@code null} if Redis surely has something
	 * else
	 * @param from where the reply begins
	 */
	synchronized void add(Commands commands, int command, byte @Nullable [] reply, int from) {
		read(this.check, commands, command);
		boolean equal = false;
		if (reply == null || !this.check.kind().isComparable()) {
			this.check.differs();
		}
		else {
			equal = this.check.compare(reply, from);
		}
		if (this.looks != null) {
			lookAgain(this.looks.get((int) commands.table().index(command)), equal, reply);
			return;
		}
		supersede(commands, command);
		if (!this.check.kind().isComparable()) {
			this.incomparable++;
		}
		else if (equal) {
			this.same++;
		}
		else {
			remember(commands, command, reply);
		}
	}

	/** Takes away what earlier records have left where this one writes. */
	private void supersede(Commands commands, int command) {
		if (this.differences.isEmpty()) {
			return;
		}
		RecordCheck.Kind kind = this.check.kind();
		if (kind == RecordCheck.Kind.NONE) {
			List<ByteBuffer> keys = commands.keys(command);
			(keys.isEmpty() ? this.differences.keys() : keys.stream().map(Verification::latin).toList())
				.forEach(this::supersedeAll);
			return;
		}
		for (int part = 0; kind != RecordCheck.Kind.NO_EFFECT && part < this.check.parts(); part++) {
			String key = this.check.key(part);
			String name = this.check.name(part);
			if (name.equals(Differences.WHOLE)) {
				supersedeAll(key);
			}
			else {
				supersede(key, name);
				if (kind == RecordCheck.Kind.JSON) {
					supersedeAround(key, name);
				}
			}
		}
		if (kind.creates()) {
			supersede(this.check.key(0), Differences.WHOLE);
		}
		if (kind == RecordCheck.Kind.FIELDS && commands.table().sentAs(command) == Operation.EVALSHA) {
			supersede(this.check.key(0), Differences.EXPIRY);
		}
	}

	/** Takes away the parts of a JSON document of which the path is a part. */
	private void supersedeAround(String key, String path) {
		for (int end = path.length() - 1; end > 1; end--) {
			if (path.charAt(end) == '.' || path.charAt(end) == '[') {
				supersede(key, path.substring(0, end));
			}
		}
	}

	private void supersedeAll(String key) {
		this.differences.parts(key).forEach((part) -> supersede(key, part));
	}

	private void supersede(String key, String part) {
		Difference last = this.differences.remove(key, part);
		if (last != null) {
			settle(last);
			this.superseded++;
		}
	}

	/** Counts a record as one that does not differ any more. */
	private void settle(Difference difference) {
		this.missing -= (difference.missing) ? 1 : 0;
		this.different -= (difference.missing) ? 0 : 1;
		this.keptBytes -= difference.keptBytes();
		this.memory.release(difference.keptBytes());
	}

	private void remember(Commands commands, int command, byte @Nullable [] reply) {
		Difference difference = new Difference(commands.table(), command);
		difference.missing = this.check.isMissing();
		difference.allParts = this.check.parts();
		difference.resp = Arrays.copyOfRange(commands.resp(), commands.start(command), commands.end(command));
		difference.found = (reply != null) ? this.check.found(reply, MAX_FOUND_BYTES) : null;
		this.missing += (difference.missing) ? 1 : 0;
		this.different += (difference.missing) ? 0 : 1;
		if (this.keptBytes + difference.keptBytes() > MAX_KEPT_BYTES
				|| !this.memory.tryReserve(difference.keptBytes())) {
			difference.resp = null;
			difference.found = null;
		}
		this.keptBytes += difference.keptBytes();
		for (int part = this.check.differing().nextSetBit(0); part >= 0; part = this.check.differing()
			.nextSetBit(part + 1)) {
			if (!this.differences.add(this.check.key(part), this.check.name(part), difference)) {
				this.stop.accept("More than " + Differences.MOST + " keys, fields or members differ, or there is no"
						+ " memory to remember them: verify fewer records at once, or load them again");
				return;
			}
		}
	}

	/**
	 * Begins to read the records that differ once more, because other clients may have
	 * written meanwhile.
	 * @param read adds a record to the lanes. The indexes of these records begin at 0
	 */
	public void lookAgain(Record record, Runnable read) {
		List<Look> all = new ArrayList<>();
		List<Difference> kept;
		synchronized (this) {
			kept = this.differences.all().stream().filter((difference) -> difference.resp != null).toList();
			this.looks = all;
		}
		for (Difference difference : kept) {
			RecordCheck again = new RecordCheck();
			byte[] resp = difference.resp;
			if (resp == null) {
				continue;
			}
			again.read(resp, 0, difference.operation, difference.sentAs, this.expiries);
			send(record, new Look(difference, false), all, difference.operation, arguments(difference, again), read);
			if (difference.missing && again.kind() != RecordCheck.Kind.JSON && !again.kind().isOfExpiry()) {
				// No field and no member is there. Is the key?
				send(record, new Look(difference, true), all, Operation.DEL, keys(difference, again), read);
			}
		}
	}

	private void send(Record record, Look look, List<Look> all, Operation operation, List<byte[]> arguments,
			Runnable read) {
		synchronized (this) {
			all.add(look);
		}
		record.begin(0);
		record.operation(operation);
		arguments.forEach((argument) -> record.argument(argument, 0, argument.length));
		read.run();
	}

	private List<byte[]> arguments(Difference difference, RecordCheck again) {
		return (again.kind() == RecordCheck.Kind.NO_KEYS) ? keys(difference, again) : List.of(again.arguments());
	}

	/** The keys of a record that no later record has written. */
	private synchronized List<byte[]> keys(Difference difference, RecordCheck again) {
		List<byte[]> keys = new ArrayList<>();
		for (int part = 0; part < ((again.kind().partsAreKeys()) ? again.parts() : 1); part++) {
			if (!again.kind().partsAreKeys() || this.differences.get(again.key(part), again.name(part)) == difference) {
				keys.add(again.key(part).getBytes(StandardCharsets.ISO_8859_1));
			}
		}
		return keys;
	}

	private void lookAgain(Look look, boolean equal, byte @Nullable [] reply) {
		Difference difference = look.difference;
		if (difference.parts == 0) {
			return;
		}
		boolean absent = (look.exists) ? equal && difference.missing : this.check.isMissing();
		this.missing += ((absent) ? 1 : 0) - ((difference.missing) ? 1 : 0);
		this.different += ((absent) ? 0 : 1) - ((difference.missing) ? 0 : 1);
		difference.missing = absent;
		if (look.exists) {
			return;
		}
		boolean differs = false;
		for (int part = 0; part < this.check.parts(); part++) {
			boolean open = this.differences.get(this.check.key(part), this.check.name(part)) == difference;
			differs |= open && this.check.differing().get(part);
		}
		if (differs) {
			difference.found = (reply != null) ? this.check.found(reply, MAX_FOUND_BYTES) : null;
			return;
		}
		for (int part = 0; part < this.check.parts(); part++) {
			if (this.differences.get(this.check.key(part), this.check.name(part)) == difference) {
				this.differences.remove(this.check.key(part), this.check.name(part));
			}
		}
		this.missing -= (difference.missing) ? 1 : 0;
		this.different -= (difference.missing) ? 0 : 1;
		boolean whole = equal && this.check.parts() == difference.allParts;
		this.same += (whole) ? 1 : 0;
		this.superseded += (whole) ? 0 : 1;
	}

	/** Lists the records that differ, and notes them in the log of the job. */
	public synchronized void end(Account account) {
		OutcomeLog log = account.log();
		for (Difference difference : this.differences.all()) {
			Failure failure = (difference.missing) ? MISSING : DIFFERENT;
			if (log != null) {
				log.failed(difference.index, Outcome.UNPROCESSED, failure);
			}
			if (difference.resp != null && account.claimNotable(difference.keptBytes())) {
				list(difference, difference.resp, failure, account);
			}
		}
		account.errorCodes().add(Verified.DIFFERENT, this.different);
		account.errorCodes().add(Verified.MISSING, this.missing);
	}

	private void list(Difference difference, byte[] resp, Failure failure, Account account) {
		RecordCheck again = new RecordCheck();
		again.read(resp, 0, difference.operation, difference.sentAs, this.expiries);
		byte[] found = difference.found;
		byte[][] arguments = again.arguments();
		List<Object> words = new ArrayList<>();
		words.add(difference.operation.word());
		Arrays.stream(arguments).forEach((word) -> words.add(difference.encoding.show(word, 0, word.length)));
		// An array cannot have the expiry of an HSET.
		boolean postable = difference.operation == difference.sentAs;
		account.list(new Item(difference.index, (difference.line > 0) ? difference.line : null, difference.id,
				difference.operation.toString(), words.get(1), Outcome.UNPROCESSED, failure, null, null,
				(postable) ? words : null, null,
				(found != null) ? difference.encoding.show(found, 0, found.length) : null));
	}

	private static String latin(ByteBuffer bytes) {
		return new String(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining(),
				StandardCharsets.ISO_8859_1);
	}

	/**
	 * A record that is read once more.
	 *
	 * @param exists whether only its key is looked for
	 */
	private record Look(Difference difference, boolean exists) {

	}

}
