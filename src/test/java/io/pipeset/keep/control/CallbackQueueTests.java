package io.pipeset.keep.control;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.pipeset.redis.OwnRedis;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

/** Each client has its turn, however many callbacks another one has. */
@ServiceTest
class CallbackQueueTests {

	/** Of its own, because other services would claim callbacks as well. */
	@RegisterExtension
	static final OwnRedis own = OwnRedis.start();

	private static final Duration LEASE = Duration.ofMinutes(1);

	private final CallbackQueue queue;

	CallbackQueueTests(@Autowired CallbackQueue queue) {
		this.queue = queue;
	}

	@BeforeEach
	void addManyOfOneClientFirst() {
		own.redis().client().flushall();
		IntStream.range(0, 2000).forEach((number) -> this.queue.add(id(number), "orders", true));
		IntStream.range(2000, 2003).forEach((number) -> this.queue.add(id(number), "billing", true));
	}

	@Test
	void clientsTakeTurns() {
		assertThat(this.queue.claim(5, LEASE, List.of())).containsExactly(id(0) + "orders", id(2000) + "billing",
				id(1) + "orders", id(2001) + "billing", id(2) + "orders");
		assertThat(this.queue.claim(3, LEASE, List.of())).containsExactly(id(3) + "orders", id(2002) + "billing",
				id(4) + "orders");
	}

	@Test
	void aClientThatIsFullWaits() {
		assertThat(this.queue.claim(5, LEASE, List.of("orders"))).containsExactly(id(2000) + "billing",
				id(2001) + "billing", id(2002) + "billing");
		assertThat(this.queue.claim(5, LEASE, List.of("orders"))).isEmpty();
	}

	private static String id(int number) {
		return "01a225cd-d8b3-7000-9d48-%012d".formatted(number);
	}

}
