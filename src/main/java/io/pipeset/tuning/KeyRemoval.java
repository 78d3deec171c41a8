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
 * Removes the keys of a tuning at all servers. It goes on after the tuning was stopped,
 * but not for long, and not against a server that does not answer.
 */
final class KeyRemoval {

	/** A command removes so many keys, so that no other client waits long for it. */
	private static final int REMOVED_AT_ONCE = 500;

	/**
	 * So many of these keys share a round trip, so that far away they go in time.
	 */
	private static final int KEYS_OF_ROUND_TRIP = 32 * REMOVED_AT_ONCE;

	/**
	 * In a cluster a command has the keys of one slot only, so there are more of them.
	 */
	private static final int COMMANDS_OF_ROUND_TRIP = 512;

	private static final Duration MOST = Duration.ofSeconds(10);

	private static final long PAUSE_MILLIS = 50;

	private static final Logger logger = LoggerFactory.getLogger(KeyRemoval.class);

	private final TuningKeys keys;

	private final TunedServers servers;

	private final LongSupplier clock;

	private final long end;

	/** The servers that removed nothing when they were asked. */
	private final Set<RedisNode> failed = new HashSet<>();

	/** Whether some keys are worth another attempt. */
	private boolean redirected;

	/** Whether this is another attempt. */
	private boolean again;

	KeyRemoval(TuningKeys keys, TunedServers servers, LongSupplier clock) {
		this.keys = keys;
		this.servers = servers;
		this.clock = clock;
		this.end = clock.getAsLong() + MOST.toNanos();
	}

	/**
	 * Removes all keys.
	 * @return how many may be left
	 */
	long run() {
		long[] left = inOrderOfSlots();
		do {
			this.again = this.redirected;
			this.redirected = false;
			left = removeSome(left);
		}
		while (this.redirected && pause());
		return left.length;
	}

	/** The numbers of all keys, each behind its slot. */
	private long[] inOrderOfSlots() {
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

	/** Removes keys; returns those that are left. */
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

	/** Makes the commands of a round trip to one server; returns the first key behind. */
	private int fill(List<List<byte[]>> commands, long[] numbers, int from, @Nullable RedisNode owner) {
		int most = Math.min(numbers.length, from + KEYS_OF_ROUND_TRIP);
		int slot = -1;
		int at = from;
		while (at < most) {
			if (slot(numbers[at]) != slot || commands.get(commands.size() - 1).size() == REMOVED_AT_ONCE) {
				slot = slot(numbers[at]);
				if (commands.size() == COMMANDS_OF_ROUND_TRIP || (at > from && this.servers.owner(slot) != owner)) {
					break;
				}
				commands.add(new ArrayList<>());
			}
			commands.get(commands.size() - 1).add(this.keys.key((int) numbers[at++]));
		}
		return at;
	}

	private boolean remove(RedisNode owner, List<List<byte[]>> commands) {
		if (this.failed.contains(owner) || this.end - this.clock.getAsLong() <= 0) {
			return false;
		}
		try {
			owner.calls().unlink(commands);
			return true;
		}
		catch (RedisCallException ex) {
			if (this.again && commands.size() > 1 && ex.isRedirected()) {
				return removeEach(owner, commands);
			}
			if (this.again && ex.isRedirected()) {
				return removeOneByOne(owner, commands.get(0));
			}
			return isLeft(owner, ex);
		}
	}

	/** Removes keys slot by slot, as some of the slots are on their way. */
	private boolean removeEach(RedisNode owner, List<List<byte[]>> commands) {
		boolean all = true;
		for (List<byte[]> command : commands) {
			all &= remove(owner, List.of(command));
		}
		return all;
	}

	/** Removes the keys of a slot on its way, each from the master that it is at. */
	private boolean removeOneByOne(RedisNode owner, List<byte[]> keys) {
		boolean all = true;
		for (byte[] key : keys) {
			try {
				if (this.end - this.clock.getAsLong() <= 0) {
					return false;
				}
				this.servers.unlink(key);
			}
			catch (RedisCallException ex) {
				all = isLeft(owner, ex);
			}
		}
		return all;
	}

	private boolean isLeft(RedisNode owner, RedisCallException failure) {
		if (failure.isRedirected()) {
			this.redirected = true;
		}
		else {
			this.failed.add(owner);
			logger.warn("Keys {}* could not be removed, and expire by themselves within an hour: {}",
					this.keys.prefix(), failure.getMessage());
		}
		return false;
	}

	/** Lets slots move on; {@code false} if it is too late for that. */
	private boolean pause() {
		try {
			TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		this.servers.refresh();
		return this.end - this.clock.getAsLong() > 0;
	}

}
