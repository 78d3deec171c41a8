package io.pipeset.tuning;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.RedisCallException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the keys of a tuning at all servers. It also runs after the tuning was stopped,
 * but its time is limited, and it gives up on a server that does not answer.
 */
final class KeyRemoval {

	/** The most keys of one command, so that it does not block other clients for long. */
	private static final int KEYS_PER_COMMAND = 500;

	/**
	 * The most keys of one round trip. Many keys share one, because a distant server
	 * would otherwise exceed the time limit.
	 */
	private static final int KEYS_PER_ROUND_TRIP = 32 * KEYS_PER_COMMAND;

	/**
	 * The most commands of one round trip. In a cluster each command has keys of one slot
	 * only, so there are many.
	 */
	private static final int COMMANDS_PER_ROUND_TRIP = 512;

	private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

	private static final long BACKOFF_MILLIS = 50;

	private static final Logger logger = LoggerFactory.getLogger(KeyRemoval.class);

	private final TuningKeys keys;

	private final TunedServers servers;

	private final LongSupplier clock;

	private final long deadline;

	/** The servers that failed to remove keys. They are not tried again. */
	private final Set<RedisNode> failed = new HashSet<>();

	/** Whether a redirection was met, so that another attempt may succeed. */
	private boolean redirected;

	/** Whether this is not the first attempt. */
	private boolean retrying;

	KeyRemoval(TuningKeys keys, TunedServers servers, LongSupplier clock) {
		this.keys = keys;
		this.servers = servers;
		this.clock = clock;
		this.deadline = clock.getAsLong() + TIME_LIMIT.toNanos();
	}

	/**
	 * Removes all keys.
	 * @return how many keys may remain
	 */
	long run() {
		long[] left = numbersBySlot();
		do {
			this.retrying = this.redirected;
			this.redirected = false;
			left = removeSome(left);
		}
		while (this.redirected && backOff());
		return left.length;
	}

	/**
	 * The numbers of all keys in the order of their slots. The upper 32 bits of each
	 * entry are the slot, the lower 32 bits the number.
	 */
	private long[] numbersBySlot() {
		long[] numbers = new long[this.keys.count()];
		for (int number = 0; number < numbers.length; number++) {
			numbers[number] = (long) this.servers.slot(this.keys.key(number)) << Integer.SIZE | number;
		}
		Arrays.sort(numbers);
		return numbers;
	}

	private static int slot(long number) {
		return (int) (number >> Integer.SIZE);
	}

	/** Removes keys; returns those that may remain. */
	private long[] removeSome(long[] numbers) {
		long[] left = new long[numbers.length];
		int count = 0;
		int to;
		for (int from = 0; from < numbers.length; from = to) {
			RedisNode owner = this.servers.owner(slot(numbers[from]));
			List<List<byte[]>> commands = new ArrayList<>();
			to = fill(commands, numbers, from, owner);
			if (owner == null || !remove(owner, commands)) {
				System.arraycopy(numbers, from, left, count, to - from);
				count += to - from;
			}
		}
		return Arrays.copyOf(left, count);
	}

	/**
	 * Builds the commands of one round trip to one server. Returns the index after the
	 * last key used.
	 */
	private int fill(List<List<byte[]>> commands, long[] numbers, int from, @Nullable RedisNode owner) {
		int most = Math.min(numbers.length, from + KEYS_PER_ROUND_TRIP);
		int slot = -1;
		int at = from;
		while (at < most) {
			if (slot(numbers[at]) != slot || commands.get(commands.size() - 1).size() == KEYS_PER_COMMAND) {
				slot = slot(numbers[at]);
				if (commands.size() == COMMANDS_PER_ROUND_TRIP || (at > from && this.servers.owner(slot) != owner)) {
					break;
				}
				commands.add(new ArrayList<>());
			}
			commands.get(commands.size() - 1).add(this.keys.key((int) numbers[at++]));
		}
		return at;
	}

	private boolean remove(RedisNode owner, List<List<byte[]>> commands) {
		if (this.failed.contains(owner) || this.deadline - this.clock.getAsLong() <= 0) {
			return false;
		}
		try {
			owner.calls().unlink(commands);
			return true;
		}
		catch (RedisCallException ex) {
			if (this.retrying && commands.size() > 1 && ex.isRedirected()) {
				return removeEach(owner, commands);
			}
			if (this.retrying && ex.isRedirected()) {
				return removeOneByOne(owner, commands.get(0));
			}
			return addFailure(owner, ex);
		}
	}

	/** Removes keys slot by slot, because some of the slots are migrating. */
	private boolean removeEach(RedisNode owner, List<List<byte[]>> commands) {
		boolean all = true;
		for (List<byte[]> command : commands) {
			all &= remove(owner, List.of(command));
		}
		return all;
	}

	/**
	 * Removes the keys of a migrating slot one by one, each from the master that has it.
	 */
	private boolean removeOneByOne(RedisNode owner, List<byte[]> keys) {
		boolean all = true;
		for (byte[] key : keys) {
			try {
				if (this.deadline - this.clock.getAsLong() <= 0) {
					return false;
				}
				this.servers.unlink(key);
			}
			catch (RedisCallException ex) {
				all = addFailure(owner, ex);
			}
		}
		return all;
	}

	private boolean addFailure(RedisNode owner, RedisCallException failure) {
		if (failure.isRedirected()) {
			this.redirected = true;
		}
		else {
			this.failed.add(owner);
			logger.warn("Keys {}* could not be removed; they expire within an hour: {}", this.keys.prefix(),
					failure.getMessage());
		}
		return false;
	}

	/**
	 * Waits for migrating slots and refreshes the owners; returns {@code false} if the
	 * time is up.
	 */
	private boolean backOff() {
		try {
			TimeUnit.MILLISECONDS.sleep(BACKOFF_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		this.servers.refresh();
		return this.deadline - this.clock.getAsLong() > 0;
	}

}
