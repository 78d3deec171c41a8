package io.pipeset.engine.slab;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.memory.CountedReservation;
import io.pipeset.record.memory.MemoryLimitException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A slab takes its memory from a reservation, and gives all of it back. */
class SlabMemoryTests {

	private static final int KIB = 1 << 10;

	private static final int MIB = 1 << 20;

	/** The memory of a slab of the smallest size: its bytes, and 64 rows. */
	private static final long SMALLEST = 4 * KIB + 64 * 32;

	private final CountedReservation memory = new CountedReservation(100 * MIB);

	private final FilledSlabs slabs = new FilledSlabs();

	@Test
	void anEmptySlabHoldsTheExpectedMemoryAndAnEighthMore() {
		Slab slab = new Slab(1000, 80 * KIB, this.memory);
		assertThat(this.memory.held().get()).isEqualTo(90 * KIB + 1000 * 32);
		slab.release();
		assertThat(this.memory.held().get()).isZero();
	}

	@Test
	void itBeginsSmallIfMemoryIsScarce() {
		CountedReservation scarce = new CountedReservation(SMALLEST);
		Slab slab = new Slab(1000, 80 * KIB, scarce);
		assertThat(scarce.held().get()).isEqualTo(SMALLEST);
		slab.release();
		assertThatExceptionOfType(MemoryLimitException.class)
			.isThrownBy(() -> new Slab(0, 0, new CountedReservation(SMALLEST - 1)));
	}

	@Test
	void itTakesMoreAsItGrowsAndGivesAllBack() {
		Slab slab = new Slab(0, 0, this.memory);
		slab.clear(false, false);
		long held = this.memory.held().get();
		for (int i = 0; i < 65; i++) {
			assertThat(slab.add(set(10))).isTrue();
		}
		assertThat(this.memory.held().get()).isEqualTo(held + 64 * 32);
		assertThat(slab.add(set(10 * KIB))).isTrue();
		assertThat(this.memory.held().get()).isEqualTo(slab.bytes() + 128 * 32);
		slab.release();
		assertThat(this.memory.held().get()).isZero();
	}

	@Test
	void aRecordIsRefusedIfThereIsNoMemory() {
		CountedReservation full = new CountedReservation(SMALLEST);
		Slab slab = new Slab(0, 0, full);
		slab.clear(false, false);
		assertThat(slab.add(set(1 * KIB))).isTrue();
		assertThat(slab.add(set(8 * KIB))).isFalse();
		assertThat(slab.count()).isOne();
		assertThat(full.held().get()).isEqualTo(SMALLEST);
	}

	@Test
	void memoryForALargeRecordIsTakenWhileTheSlabIsEmptyAndGivenBackWithIt() {
		Slab slab = new Slab(0, 0, this.memory);
		slab.clear(false, false);
		Record large = set(5 * MIB);
		slab.ensureCapacity(large);
		assertThat(slab.isLarge()).isTrue();
		assertThat(this.memory.held().get()).isEqualTo(6 * MIB + 64 * 32);
		assertThat(slab.add(large)).isTrue();
		assertThat(this.memory.held().get()).isEqualTo(6 * MIB + 64 * 32);
		slab.clear(false, false);
		assertThat(slab.isLarge()).isFalse();
		assertThat(this.memory.held().get()).isEqualTo(SMALLEST);
		slab.release();
		assertThat(this.memory.held().get()).isZero();
	}

	@Test
	void idsTakeMemoryThatIsGivenBackWhenTheSlabIsReused() {
		Slab slab = this.slabs.fill(new Slab(0, 0, this.memory), false, "SET a 1");
		assertThat(this.memory.held().get()).isEqualTo(SMALLEST);
		this.slabs.fill(slab, false, "SET a 1", "SET b 2");
		assertThat(this.memory.held().get()).isEqualTo(SMALLEST + 16 * KIB);
		slab.clear(false, false);
		assertThat(this.memory.held().get()).isEqualTo(SMALLEST);
	}

	@Test
	void optionalRepliesAreKeptOnlyIfThereIsMemory() {
		String value = "$100000\r\n" + "x".repeat(100_000) + "\r\n";
		Slab rich = FilledSlabs.written(this.slabs.fill(new Slab(0, 0, this.memory), false, "SET a 1 GET"), value);
		assertThat(this.memory.held().get()).isGreaterThanOrEqualTo(SMALLEST + 100_000);
		assertThat(rich.replies().notableReplies().bytes(0)).isEqualTo(value.length());
		rich.release();
		assertThat(this.memory.held().get()).isZero();
		Slab poor = FilledSlabs
			.written(this.slabs.fill(new Slab(0, 0, new CountedReservation(SMALLEST)), false, "SET a 1 GET"), value);
		assertThat(poor.isAnswered()).isTrue();
		assertThat(poor.replies().notableReplies().count()).isZero();
	}

	private static Record set(int valueBytes) {
		Record record = new Record();
		record.begin(0);
		record.operation(Operation.SET);
		record.argument(new byte[] { 'k' }, 0, 1);
		record.argument(new byte[valueBytes], 0, valueBytes);
		return record;
	}

}
