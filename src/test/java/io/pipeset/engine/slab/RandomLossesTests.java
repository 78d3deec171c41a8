package io.pipeset.engine.slab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;

import io.pipeset.report.Account;
import io.pipeset.report.Item;
import io.pipeset.report.Outcome;
import io.pipeset.report.Results;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random slabs are lost, refused and sent again. A model notes which commands Redis has
 * run, and which outcomes are certain. A failure names its seed, which repeats the case.
 */
class RandomLossesTests {

	private static final int CASES = 6000;

	private static final Loss LOSS = new Loss(Loss.CONNECTION_LOST, "gone");

	private static final List<String> COMMANDS = List.of("SET %s 1", "SET %s 1 NX", "SADD %s 1", "LPUSH %s 1",
			"DEL %s %s", "EVALSHA " + FilledSlabs.SHA + " 1 %s", "EVALSHA " + FilledSlabs.SHA + " 0");

	private final FilledSlabs slabs = new FilledSlabs();

	private final Account account = new Account(Results.ALL, 1000, false);

	/** The words of each record. */
	private final List<String> records = new ArrayList<>();

	/**
	 * The times at which each record ran, without runs of a script that returned an
	 * error.
	 */
	private final TreeMap<Long, List<Integer>> runs = new TreeMap<>();

	/** The records that were written at least once without an answer. */
	private final Set<Long> lost = new HashSet<>();

	/** The records of lost transactions. Some of these records may be answered. */
	private final Set<Long> lostInPart = new HashSet<>();

	/** The records whose script failed. The script may have written before. */
	private final Set<Long> failedScripts = new HashSet<>();

	/** The time at which each record was last refused for good. */
	private final Map<Long, Integer> refusals = new HashMap<>();

	private Random random = new Random();

	private int clock;

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void noRecordThatMayHaveRunIsReportedAsNotRun(boolean atomic) {
		for (int seed = 0; seed < CASES; seed++) {
			RandomLossesTests one = new RandomLossesTests();
			one.random = new Random(seed);
			try {
				one.run(atomic);
				one.check();
			}
			catch (RuntimeException | AssertionError ex) {
				throw new AssertionError("Seed " + seed + ", atomic " + atomic + ": " + one.records + " ran at "
						+ one.runs + ", lost " + one.lost + ": " + one.account.items(), ex);
			}
		}
	}

	private void run(boolean atomic) {
		List<Slab> line = new ArrayList<>();
		for (int slab = 0; slab <= this.random.nextInt(3); slab++) {
			String[] commands = new String[1 + this.random.nextInt(5)];
			Arrays.setAll(commands, (i) -> command());
			this.records.addAll(List.of(commands));
			line.add((atomic) ? this.slabs.transaction(commands) : this.slabs.slab(commands));
		}
		boolean goesOn = true;
		for (int attempt = 0; goesOn && !line.isEmpty(); attempt++) {
			boolean breaks = chance(70);
			converse(line, breaks);
			boolean broken = line.stream().anyMatch((slab) -> !slab.isAnswered());
			goesOn = attempt < 4 && chance(80) && line.stream().allMatch((slab) -> refusal(slab) == null);
			if (goesOn) {
				ResendRules.mark(line, broken && chance(80), true);
			}
			line.forEach((slab) -> slab.settle(this.account, (broken) ? LOSS : null));
			line.removeIf((slab) -> !slab.retry());
		}
		// The job ends before the rest is sent.
		line.forEach((slab) -> slab.settle(this.account, null));
	}

	/**
	 * Sends slabs. If the connection breaks, Redis runs and answers only some of their
	 * commands.
	 */
	private void converse(List<Slab> line, boolean breaks) {
		int written = (breaks) ? this.random.nextInt(line.size() + 1) : line.size();
		int executed = (breaks) ? this.random.nextInt(12) : Integer.MAX_VALUE;
		boolean heard = true;
		for (Slab slab : line.subList(0, written)) {
			StringBuilder replies = new StringBuilder();
			executed -= (slab.isAtomic()) ? runWhole(slab, executed, replies) : runEach(slab, executed, replies);
			int length = (!heard) ? 0
					: (breaks && chance(50)) ? this.random.nextInt(replies.length() + 1) : replies.length();
			heard &= length == replies.length();
			FilledSlabs.written(slab, replies.substring(0, length));
			for (int command = slab.replies().count(); command < slab.count(); command++) {
				this.lost.add(slab.commands().table().index(command));
			}
			for (int command = 0; slab.isAtomic() && !slab.isAnswered() && command < slab.count(); command++) {
				this.lostInPart.add(slab.commands().table().index(command));
			}
			heard &= slab.isAnswered();
		}
	}

	private int runEach(Slab slab, int most, StringBuilder replies) {
		boolean loaded = load(slab, replies);
		int commands = Math.max(0, Math.min(most, slab.count()));
		for (int command = 0; command < commands; command++) {
			replies.append(run(slab, command, loaded));
		}
		return commands;
	}

	private int runWhole(Slab slab, int most, StringBuilder replies) {
		boolean loaded = load(slab, replies);
		if (most <= 0) {
			return 0;
		}
		if (chance(5)) {
			replies.append("-NOPERM no 'multi'\r\n");
			int commands = Math.min(most, slab.count());
			for (int command = 0; command < commands; command++) {
				replies.append(run(slab, command, loaded));
			}
			replies.append((commands == slab.count()) ? "-ERR EXEC without MULTI\r\n" : "");
			return commands;
		}
		replies.append(FilledSlabs.OK);
		boolean queued = true;
		for (int command = 0; command < slab.count(); command++) {
			boolean refused = chance(5);
			queued &= !refused;
			replies.append((!refused) ? FilledSlabs.QUEUED : refusal());
		}
		if (most < slab.count()) {
			return most;
		}
		if (!queued || chance(5)) {
			replies.append("-EXECABORT Transaction discarded" + ((queued) ? " because of: BUSY no" : "") + "\r\n");
			return slab.count();
		}
		replies.append("*" + slab.count() + "\r\n");
		for (int command = 0; command < slab.count(); command++) {
			replies.append(run(slab, command, loaded));
		}
		return slab.count();
	}

	private boolean load(Slab slab, StringBuilder replies) {
		boolean loads = chance(90);
		if (slab.commands().scripts().count() > 0) {
			replies.append((loads) ? "$1\r\nx\r\n" : "-NOPERM no 'script'\r\n");
		}
		return loads;
	}

	private String run(Slab slab, int command, boolean loaded) {
		long index = slab.commands().table().index(command);
		String record = this.records.get((int) index);
		boolean script = record.startsWith("EVALSHA");
		if (script && !loaded) {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n";
		}
		this.clock++;
		if (chance(15)) {
			String refusal = refusal();
			// A transient error says nothing about the keys.
			this.refusals.remove(index);
			if (!refusal.startsWith("-BUSY")) {
				this.refusals.put(index, this.clock);
			}
			return refusal;
		}
		this.runs.computeIfAbsent(index, (first) -> new ArrayList<>()).add(this.clock);
		if (script && chance(20)) {
			this.failedScripts.add(index);
			return (chance(50)) ? "-BUSY is what I say\r\n" : "-ERR no\r\n";
		}
		return (record.endsWith("NX") && chance(50)) ? "$-1\r\n" : FilledSlabs.OK;
	}

	private String refusal() {
		return (chance(70)) ? "-BUSY Redis is busy running a script.\r\n" : "-OOM no\r\n";
	}

	private static String refusal(Slab slab) {
		return slab.errors().transactionRefusal();
	}

	private void check() {
		List<Item> items = this.account.items();
		assertThat(items).extracting(Item::index)
			.containsExactlyElementsOf(LongStream.range(0, this.records.size()).boxed().toList());
		for (Item item : items) {
			List<Integer> ran = this.runs.getOrDefault(item.index(), List.of());
			boolean mayHaveRun = this.lost.contains(item.index());
			switch (item.status()) {
				case APPLIED, NOOP -> assertThat(ran).as("%s", item).isNotEmpty();
				case UNKNOWN ->
					assertThat(mayHaveRun || this.lostInPart.contains(item.index())).as("%s", item).isTrue();
				case REJECTED, UNPROCESSED -> {
					assertThat(mayHaveRun).as("%s", item).isFalse();
					assertThat(ran.isEmpty() || this.failedScripts.contains(item.index())).as("%s", item).isTrue();
				}
			}
			String record = this.records.get((int) item.index());
			if (item.status() == Outcome.REJECTED && this.refusals.containsKey(item.index())) {
				assertThat(this.runs.headMap(item.index()).entrySet())
					.filteredOn((earlier) -> meet(this.records.get(earlier.getKey().intValue()), record))
					.allMatch((earlier) -> last(earlier.getValue()) < this.refusals.get(item.index()),
							"ran before the refusal of " + item);
			}
			if (record.endsWith("NX") || record.startsWith("LPUSH") || record.startsWith("EVALSHA")) {
				assertThat(ran).as("%s", item).hasSizeLessThanOrEqualTo(1);
				assertThat(this.runs.tailMap(item.index(), false).entrySet())
					.filteredOn((later) -> !ran.isEmpty() && meet(this.records.get(later.getKey().intValue()), record))
					.allMatch((later) -> ran.get(0) < later.getValue().get(0), "ran first after " + item);
			}
			if (item.status() == Outcome.APPLIED || item.status() == Outcome.NOOP) {
				assertThat(this.runs.headMap(item.index()).entrySet())
					.filteredOn((earlier) -> meet(this.records.get(earlier.getKey().intValue()), record))
					.allMatch((earlier) -> last(earlier.getValue()) < last(ran), "ran before " + item);
			}
		}
	}

	/**
	 * Whether two records may share a key and must keep their order. Two removals need
	 * not. A record without keys may share a key with every other.
	 */
	private static boolean meet(String one, String other) {
		if (one.startsWith("DEL") && other.startsWith("DEL")) {
			return false;
		}
		Set<String> keys = keys(one);
		return keys.isEmpty() || keys(other).isEmpty() || !Collections.disjoint(keys, keys(other));
	}

	private static Set<String> keys(String record) {
		Set<String> keys = new TreeSet<>(List.of(record.split(" ", -1)));
		keys.retainAll(Set.of("a", "b", "c"));
		return keys;
	}

	private static int last(List<Integer> times) {
		return times.get(times.size() - 1);
	}

	private String command() {
		return COMMANDS.get(this.random.nextInt(COMMANDS.size())).formatted(key(), key());
	}

	private String key() {
		return List.of("a", "b", "c").get(this.random.nextInt(3));
	}

	private boolean chance(int percent) {
		return this.random.nextInt(100) < percent;
	}

}
