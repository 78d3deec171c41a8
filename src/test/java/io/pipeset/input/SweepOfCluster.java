package io.pipeset.input;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.LaneRig;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.engine.pipeline.call.KeyFilter;
import io.pipeset.record.KeyPrefixes;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.memory.CountedReservation;
import io.pipeset.redis.TestCluster;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A sweep of a cluster whose keys are read one by one, so that a test can move slots in
 * between.
 */
final class SweepOfCluster implements AutoCloseable {

	private final TestCluster cluster;

	private final LaneContext job;

	private final Sweep sweep = new Sweep(new KeyFilter("*", null), null, Operation.UNLINK, null, List.of(),
			KeyPrefixes.ANY);

	private final SweptRecords records;

	private final CountedReservation memory = new CountedReservation(new AtomicLong(), false);

	private final Record record = new Record();

	private final Set<String> expected = new HashSet<>();

	private final Set<String> found = new HashSet<>();

	SweepOfCluster(TestCluster cluster, LaneRig rig, Duration timeout, int retries) {
		this.cluster = cluster;
		this.job = rig.context(LaneRig.settings(1000, 1000, 1, timeout, retries), rig.threads());
		this.records = new SweptRecords(this.sweep, new Lanes(this.job), this.job, this.memory);
	}

	/** The memory that the sweep holds. */
	long heldBytes() {
		return this.memory.held().get();
	}

	Sweep sweep() {
		return this.sweep;
	}

	LaneContext job() {
		return this.job;
	}

	/** Makes a key, and reads until it is read. */
	void readTo(String key) throws IOException {
		this.expected.add(key);
		this.cluster.at(key).set(key, "v");
		while (!this.found.contains(key)) {
			assertThat(read()).isTrue();
		}
	}

	/** Makes keys in one slot of a master. */
	void fill(int master, int keys) {
		expect(master, keys);
		this.cluster.master(master)
			.client()
			.mset(IntStream.range(0, keys).boxed().collect(Collectors.toMap((i) -> key(master, i), (i) -> "v")));
	}

	/** Expects keys that exist already. */
	void expect(int master, int keys) {
		IntStream.range(0, keys).forEach((i) -> this.expected.add(key(master, i)));
	}

	String key(int master, int number) {
		return "{" + this.cluster.tag(master, 0) + "}" + number;
	}

	/**
	 * Reads until the single key of each other master is read, so that these masters were
	 * scanned.
	 */
	void readOthers() throws IOException {
		fill(1, 1);
		fill(2, 1);
		while (!this.found.contains(key(1, 0)) || !this.found.contains(key(2, 0))) {
			assertThat(read()).isTrue();
		}
	}

	/** Reads so many keys of the slots that are scanned again, and no more. */
	void readAgain(int keys) throws IOException {
		while (this.sweep.scan().repeatedSlots() == null) {
			assertThat(read()).isTrue();
		}
		for (int i = 1; i < keys; i++) {
			assertThat(read()).isTrue();
		}
	}

	/** Reads all keys, and checks that none is missing. */
	void readAll() throws IOException {
		boolean more = true;
		while (more) {
			more = read();
		}
		assertThat(this.found).containsExactlyInAnyOrderElementsOf(this.expected);
	}

	private boolean read() throws IOException {
		boolean more = this.records.read(this.record);
		if (more) {
			this.found.add(new String(this.record.source(0), this.record.offset(0), this.record.length(0),
					StandardCharsets.UTF_8));
		}
		return more;
	}

	@Override
	public void close() {
		this.records.close();
	}

}
