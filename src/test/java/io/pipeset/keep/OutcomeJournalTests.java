package io.pipeset.keep;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.keep.OutcomeJournal.Outcomes;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryProperties;
import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;
import io.pipeset.report.RedisIdentity;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** The journal stores the outcome of each record, in any order of their arrival. */
class OutcomeJournalTests {

	private static final int RECORDS = 700_000;

	private static final int BATCH = 25;

	private static final JournalEntry RAN = new JournalEntry(Outcome.APPLIED, null);

	private static final List<String> MESSAGES = IntStream.range(0, 100).mapToObj((i) -> "message " + i).toList();

	@TempDir
	Path temporary;

	private final MemoryBudget memory = new MemoryBudget(new MemoryProperties(null), 1, Duration.ofMinutes(1),
			new SimpleMeterRegistry());

	private @Nullable Spool spool;

	private @Nullable SpoolFile request;

	private @Nullable SpoolFile file;

	private @Nullable SpoolFile notes;

	@AfterEach
	void end() {
		if (this.spool != null) {
			this.spool.end();
		}
	}

	@Test
	void storesEachOutcomeInAnyOrder() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofMegabytes(10));
		Random random = new Random(7);
		// Sixteen lanes, far apart: more chunks than fit in memory, so that each batch of
		// a lane needs one that is not.
		int lane = RECORDS / 16;
		for (int batch = 0; batch < lane; batch += BATCH) {
			for (int from = batch; from < RECORDS; from += lane) {
				for (int i = 0; i < BATCH; i++) {
					enter(journal, from + i);
				}
			}
			if (random.nextInt(1000 / BATCH) == 0) {
				journal.flush();
			}
		}
		journal.end();
		assertThat(this.spool.used()).isBetween(2L * RECORDS, 2L * RECORDS + 100_000);
		assertThat(this.memory.used()).isZero();
		for (int time = 0; time < 2; time++) {
			Outcomes outcomes = journal.outcomes(this.memory.open(new JobStop()));
			for (int i = 0; i < RECORDS; i++) {
				JournalEntry entry = outcomes.next();
				JournalEntry expected = switch (i % 3) {
					case 0 -> RAN;
					case 1 -> failure(i);
					default -> JournalEntry.NOT_RUN;
				};
				if (!Objects.equals(entry, expected)) {
					assertThat(entry).as("record %d", i).isEqualTo(expected);
				}
			}
			for (int i = 0; i < 100_000; i++) {
				assertThat(outcomes.next()).as("a record that was not read").isSameAs(JournalEntry.NOT_RUN);
			}
		}
	}

	@Test
	void knowsSentRecordsAfterItsProcessIsKilled() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofMegabytes(10));
		journal.connected("localhost:6379", 7L, "life");
		journal.connected("localhost:6379", 7L, "life");
		for (int i = 0; i < 6; i++) {
			journal.sent(i);
		}
		journal.flush();
		journal.ran(0, false);
		journal.ran(1, true);
		journal.failed(2, Outcome.REJECTED, failure(1).failure());
		journal.failed(3, Outcome.UNPROCESSED, JournalEntry.NOT_RUN.failure());
		journal.flush();
		// Not flushed: the process ends here.
		journal.ran(4, false);
		OutcomeJournal next = open();
		assertThat(next.records()).isEqualTo(6);
		assertThat(next.connections()).containsExactly(new JournalConnection("localhost:6379", 7L, "life"));
		next.resume(this.memory.open(new JobStop()));
		Outcomes outcomes = next.earlier();
		assertThat(outcomes.next()).isEqualTo(RAN);
		assertThat(outcomes.next().outcome()).isEqualTo(Outcome.NOOP);
		assertThat(outcomes.next()).isEqualTo(new JournalEntry(Outcome.REJECTED, failure(1).failure()));
		assertThat(outcomes.next()).isSameAs(JournalEntry.NOT_RUN);
		assertThat(outcomes.next().mayRunAgain()).isTrue();
		next.failed(4, Outcome.REJECTED, failure(1).failure());
		next.failed(5, Outcome.UNKNOWN, failure(4).failure());
		next.end();
		outcomes = next.outcomes(this.memory.open(new JobStop()));
		for (int i = 0; i < 4; i++) {
			outcomes.next();
		}
		assertThat(outcomes.next()).isEqualTo(new JournalEntry(Outcome.REJECTED, failure(1).failure()));
		assertThat(outcomes.next()).isEqualTo(new JournalEntry(Outcome.UNKNOWN, failure(4).failure()));
	}

	/** The next process may send it again, because no later record has an outcome. */
	@Test
	void aRecordLostWhenItsJobWasStoppedMayRunAgain() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofMegabytes(10));
		JobStop stop = new JobStop();
		journal.start(stop);
		journal.sent(0);
		journal.unanswered(0, failure(0).failure());
		stop.stop(Cause.SHUTTING_DOWN, "");
		journal.sent(1);
		journal.unanswered(1, failure(1).failure());
		journal.failed(2, Outcome.UNKNOWN, failure(1).failure());
		journal.end();
		Outcomes outcomes = open().outcomes(this.memory.open(new JobStop()));
		assertThat(outcomes.next()).isEqualTo(new JournalEntry(Outcome.UNKNOWN, failure(0).failure()));
		JournalEntry last = outcomes.next();
		assertThat(last.mayRunAgain()).isTrue();
		assertThat(last.failure()).isEqualTo(failure(1).failure());
		assertThat(outcomes.next().mayRunAgain()).isFalse();
	}

	/** A later process would take the job for complete, and send its records again. */
	@Test
	void nothingIsSentWhereTheDiskTakesNeitherOutcomesNorTheMarkThatTheyAreLost() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofBytes(100));
		JobStop stop = new JobStop();
		journal.start(stop);
		journal.requireSafe();
		this.request.close();
		journal.ran(40_000, false);
		journal.flush();
		assertThat(stop.ending()).isNotNull();
		assertThatIllegalStateException().isThrownBy(journal::requireSafe);
	}

	@Test
	void keepsTheLastRateLimitAndTheFirstCancellation() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofMegabytes(10));
		assertThat(journal.asked()).isEqualTo(RequestedChanges.NONE);
		journal.note(new RequestedChanges(null, 5000L, null, null));
		journal.failed(0, Outcome.REJECTED, failure(1).failure());
		journal.note(new RequestedChanges(17L, null, null, null));
		journal.note(new RequestedChanges(18L, 0L, null, null));
		journal.end();
		OutcomeJournal next = open();
		assertThat(next.asked()).isEqualTo(new RequestedChanges(17L, 0L, null, null));
		next.resume(this.memory.open(new JobStop()));
		assertThat(next.earlier().next().failure()).isEqualTo(failure(1).failure());
	}

	/**
	 * No later record of a key has an outcome in the file while an earlier one has none.
	 */
	@Test
	void outcomesReachTheFileInTheOrderOfTheRecords() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofBytes(100));
		journal.ran(40_000, false);
		journal.ran(0, false);
		journal.flush();
		assertThat(journal.failure()).isNotNull();
		assertThat(this.file.bytes()).isEqualTo(2);
	}

	@Test
	void aJobWithAnIncompleteJournalIsNotResumed() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofBytes(100));
		this.request.writeAt(0, ByteBuffer.allocate(10));
		assertThat(this.spool.used()).isEqualTo(10);
		journal.sent(50);
		journal.flush();
		assertThat(journal.isLost()).isTrue();
		assertThat(this.request.name()).endsWith(".lost");
	}

	@Test
	void keepsTheCodesWhenThereAreTooManyMessages() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofMegabytes(10));
		for (int i = 0; i < 100_000; i++) {
			journal.failed(i, Outcome.REJECTED, new Failure("CODE" + (i % 3000), "message " + i, false));
		}
		journal.end();
		Outcomes outcomes = journal.outcomes(this.memory.open(new JobStop()));
		for (int i = 0; i < 100_000; i++) {
			JournalEntry entry = outcomes.next();
			assertThat(entry).isNotNull();
			assertThat(entry.outcome()).isEqualTo(Outcome.REJECTED);
			assertThat(entry.failure().code()).isIn("CODE" + (i % 3000), "(other)");
			assertThat(entry.failure().message().equals("message " + i)).isEqualTo(i < 10_000);
		}
	}

	@Test
	void countsItsMessagesAndHasNoneInMemoryOnceTheJobHasEnded() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofMegabytes(10));
		List<WeakReference<Failure>> held = new ArrayList<>();
		for (int i = 0; i < 1000; i++) {
			Failure failure = new Failure("CODE", "message " + i, false);
			held.add(new WeakReference<>(failure));
			journal.failed(i, Outcome.REJECTED, failure);
		}
		assertThat(this.memory.used()).isGreaterThan(1000 * 256);
		journal.end();
		assertThat(this.memory.used()).isZero();
		await().untilAsserted(() -> {
			System.gc();
			assertThat(held).extracting(WeakReference::get).containsOnlyNulls();
		});
		MemoryShare reader = this.memory.open(new JobStop());
		Outcomes outcomes = journal.outcomes(reader);
		assertThat(this.memory.used()).isGreaterThan(1000 * 256);
		assertThat(outcomes.next())
			.isEqualTo(new JournalEntry(Outcome.REJECTED, new Failure("CODE", "message 0", false)));
		reader.close();
	}

	@Test
	void leavesMessagesOutWhenMemoryIsShort() throws IOException {
		List<MemoryShare> others = takeAll();
		OutcomeJournal journal = journal(DataSize.ofMegabytes(10));
		long before = this.memory.used();
		for (int i = 0; i < 10_000; i++) {
			journal.failed(i, Outcome.REJECTED, new Failure("CODE", "message " + i, false));
		}
		assertThat(this.memory.used() - before).isLessThan(1 << 20);
		journal.end();
		others.forEach(MemoryShare::close);
		Outcomes outcomes = journal.outcomes(this.memory.open(new JobStop()));
		JournalEntry last = null;
		for (int i = 0; i < 10_000; i++) {
			last = outcomes.next();
		}
		assertThat(last).isNotNull();
		assertThat(last.failure().message()).contains("too many messages");
	}

	/** The lists hold memory until the job ends, and so must not wait for it. */
	@Test
	void resumesWithoutMessagesWhenMemoryIsShort() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofMegabytes(10));
		for (int i = 0; i < 10_000; i++) {
			journal.failed(i, Outcome.REJECTED, new Failure("CODE" + (i % 3), "message " + i, false));
		}
		journal.end();
		List<MemoryShare> others = takeAll();
		long before = this.memory.used();
		MemoryShare memory = this.memory.open(new JobStop());
		OutcomeJournal next = open();
		next.resume(memory);
		assertThat(this.memory.used() - before).isLessThan(1 << 20);
		Outcomes earlier = next.earlier();
		for (int i = 0; i < 10_000; i++) {
			assertThat(earlier.next().failure().code()).isEqualTo("CODE" + (i % 3));
		}
		next.failed(10_000, Outcome.REJECTED, new Failure("CODE1", "never seen", false));
		next.end();
		others.forEach(MemoryShare::close);
		Outcomes all = next.outcomes(this.memory.open(new JobStop()));
		for (int i = 0; i < 10_000; i++) {
			assertThat(all.next().failure().message()).isEqualTo("message " + i);
		}
		Failure later = all.next().failure();
		assertThat(later.code()).isIn("CODE1", "(other)");
		assertThat(later.message()).contains("too many messages");
	}

	@Test
	void resumesWithSomeCodesWhenMemoryIsShortAndThereAreTooMany() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofMegabytes(10));
		for (int i = 0; i < 5000; i++) {
			journal.failed(i, Outcome.REJECTED, new Failure("CODE" + i, "message", false));
		}
		journal.end();
		List<MemoryShare> others = takeAll();
		OutcomeJournal next = open();
		next.resume(this.memory.open(new JobStop()));
		Outcomes earlier = next.earlier();
		List<String> codes = new ArrayList<>();
		for (int i = 0; i < 5000; i++) {
			codes.add(earlier.next().failure().code());
		}
		assertThat(codes.stream().filter("(other)"::equals).count()).isBetween(2000L, 4000L);
		others.forEach(MemoryShare::close);
	}

	/**
	 * Takes all shared memory with many jobs, because one job gets only half of the rest.
	 */
	private List<MemoryShare> takeAll() {
		List<MemoryShare> others = Stream.generate(() -> this.memory.open(new JobStop())).limit(32).toList();
		others.forEach((other) -> {
			for (long bytes = 1 << 30; bytes > 64; bytes /= 2) {
				other.tryTakeForReport(bytes);
			}
		});
		return others;
	}

	@Test
	void givesUpOutcomesWhenTheSpoolIsFull() throws IOException {
		OutcomeJournal journal = journal(DataSize.ofBytes(100));
		for (int i = 0; i < 100; i++) {
			journal.ran(i, false);
			journal.flush();
		}
		journal.end();
		assertThat(journal.failure()).isNotNull().hasMessageContaining("pipeset.spool.max-bytes");
		journal.close();
		assertThat(this.spool.used()).isZero();
	}

	private static void enter(OutcomeJournal journal, int record) {
		if (record % 3 == 0) {
			journal.ran(record, false);
		}
		else if (record % 3 == 1) {
			JournalEntry entry = failure(record);
			journal.failed(record, entry.outcome(), entry.failure());
		}
	}

	private static JournalEntry failure(int record) {
		return new JournalEntry((record % 2 == 0) ? Outcome.REJECTED : Outcome.UNKNOWN,
				new Failure("CODE", MESSAGES.get(record % 100), true));
	}

	private OutcomeJournal journal(DataSize most) throws IOException {
		this.spool = new Spool(this.temporary.resolve("spool"), new RedisIdentity("localhost:6379/0"), most.toBytes(),
				new SimpleMeterRegistry());
		this.request = this.spool.create("a.job", null);
		this.file = this.spool.create("a.outcomes", null);
		this.notes = this.spool.create("a.notes", null);
		return open();
	}

	private OutcomeJournal open() {
		return new OutcomeJournal(this.request, this.file, this.notes, this.memory.open(new JobStop()));
	}

}
