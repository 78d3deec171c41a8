package io.pipeset.engine.lane;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.Slab;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.JobClock;
import io.pipeset.report.Results;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A lane sends its slabs in their order, and settles each of them once. */
class LaneSlabsTests {

	private final LaneQueue queue = new LaneQueue();

	private final Account account = new Account(Results.ERRORS, 10, false);

	private final AtomicInteger looks = new AtomicInteger();

	private final LaneContext context = new LaneContext(
			new LaneSettings(10, FlushPolicy.each(), 1, Duration.ofSeconds(1), 0, 0, Duration.ofSeconds(1), false,
					true),
			this.account, new JobClock(), new JobStop(), new Retries(0),
			new InFlightBytes(1 << 20, new SimpleMeterRegistry()), null,
			new PipelineProperties(1, 100, DataSize.ofMegabytes(1), Duration.ofSeconds(1), false), null,
			Observation.NOOP, null, null, new UnlimitedSlabMemory(), this.looks::incrementAndGet);

	private final Window window = new Window(this.context.pipeline(), this.context.inFlight(), this.context.memory());

	private final LettuceConnectionFactory unused = unused();

	private final RedisNode node = new RedisNode("h:1", this.unused, this.context.pipeline());

	private final LaneSlabs slabs = new LaneSlabs(this.context, this.queue, this.window,
			new Destinations(RedisNodes.of(this.node), null));

	private final Record record = new Record();

	@AfterEach
	void end() {
		this.node.close();
		this.unused.destroy();
	}

	@Test
	void filledSlabsAreSentInOrderBeforeTheLentOne() {
		Slab first = filled(this.record);
		Slab second = filled(this.record);
		Slab lent = filling(this.record);
		this.queue.addFilled(first);
		this.queue.addFilled(second);
		this.queue.lend(lent);
		assertThat(this.slabs.borrow()).as("a filled slab comes first").isFalse();
		while (this.slabs.receive(0, false, (slab) -> {
		}) || this.slabs.borrow()) {
			assertThat(this.slabs.peek()).isNotNull();
		}
		assertThat(List.of(this.slabs.takeNext(), this.slabs.takeNext(), this.slabs.takeNext())).containsExactly(first,
				second, lent);
		assertThat(this.slabs.peek()).isNull();
	}

	@Test
	void aSlabOutOfOrderIsNotTaken() {
		this.queue.addFilled(filled(this.record));
		// The indexes of a new record object begin at 0 again.
		this.queue.addFilled(filled(new Record()));
		assertThat(this.slabs.fetchNext()).isTrue();
		this.slabs.takeNext();
		assertThat(this.slabs.fetchNext()).isTrue();
		assertThatIllegalStateException().isThrownBy(this.slabs::takeNext)
			.withMessage("Record 0 would be sent after record 0 of the same lane");
	}

	@Test
	void slabsOfAStoppedJobAreUnprocessedAndReleaseTheirBytes() {
		this.queue.addFilled(filled(this.record));
		assertThat(this.slabs.fetchNext()).isTrue();
		assertThat(this.context.inFlight().now()).isPositive();
		this.slabs.settleUnsent();
		assertThat(this.account.counts()).isEqualTo(new Counts(1, 0, 0, 0, 0, 1));
		assertThat(this.context.inFlight().now()).isZero();
		assertThat(this.looks).as("looks at the errors so far").hasValue(1);
	}

	@Test
	void closeSettlesTheSlabsInTheQueue() {
		this.queue.addFilled(filled(this.record));
		this.queue.addFilled(filled(this.record));
		this.slabs.close();
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 0, 0, 2));
		assertThat(this.context.inFlight().now()).isZero();
	}

	private Slab filled(Record record) {
		Slab slab = filling(record);
		this.window.add(slab);
		return slab;
	}

	private Slab filling(Record record) {
		Slab slab = this.window.take(false, false);
		LaneRig.prepare(record, Operation.SET, "key", "value");
		assertThat(slab.add(record)).isTrue();
		return slab;
	}

	private static LettuceConnectionFactory unused() {
		LettuceConnectionFactory factory = new LettuceConnectionFactory();
		factory.afterPropertiesSet();
		return factory;
	}

}
