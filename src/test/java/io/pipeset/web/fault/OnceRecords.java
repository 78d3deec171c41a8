package io.pipeset.web.fault;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.service.Lines;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Records that must not run twice: INCR of a hundred counters, and RPUSH of values that
 * are all different to a few lists, which tell lost records from doubled ones.
 *
 * @param prefix begins all keys
 * @param lists the number of lists
 * @param pushes the records that push
 */
record OnceRecords(String prefix, int size, int lists, BitSet pushes) {

	private static final int COUNTERS = 100;

	static OnceRecords pick(String prefix, Random random, int least) {
		int size = least + random.nextInt(4000);
		double share = List.of(0.2, 0.5, 0.8).get(random.nextInt(3));
		BitSet pushes = new BitSet();
		IntStream.range(0, size).filter((i) -> random.nextDouble() < share).forEach(pushes::set);
		return new OnceRecords(prefix, size, 1 + random.nextInt(6), pushes);
	}

	private String key(int index) {
		// Not by the index alone, so that neighbours share a key now and then.
		int mixed = (index * 0x9E3779B1) >>> 8;
		return this.prefix + ((this.pushes.get(index)) ? "l" + mixed % this.lists : "n" + mixed % COUNTERS);
	}

	/** The records as an upload. */
	InputStream lines() {
		return Lines.of(this.size, (i) -> (this.pushes.get((int) i))
				? "[\"RPUSH\",\"" + key((int) i) + "\",\"" + i + "\"]" : "[\"INCR\",\"" + key((int) i) + "\"]");
	}

	/** The records as commands of the protocol of Redis. */
	String commands() {
		return IntStream.range(0, this.size).mapToObj((i) -> {
			List<String> words = (this.pushes.get(i)) ? List.of("RPUSH", key(i), Integer.toString(i))
					: List.of("INCR", key(i));
			return "*" + words.size() + "\r\n"
					+ words.stream()
						.map((word) -> "$" + word.length() + "\r\n" + word + "\r\n")
						.collect(Collectors.joining());
		}).collect(Collectors.joining());
	}

	/** Sends a record in a pipeline of Spring Data Redis. */
	void send(RedisConnection connection, int index) {
		byte[] key = key(index).getBytes(StandardCharsets.UTF_8);
		if (this.pushes.get(index)) {
			connection.listCommands().rPush(key, Integer.toString(index).getBytes(StandardCharsets.UTF_8));
		}
		else {
			connection.stringCommands().incr(key);
		}
	}

	/**
	 * Counts what is in Redis.
	 * @param sure how many records are known to have run, by whoever sent them
	 * @param unknown the records that may have run; their number may be greater
	 */
	OnceCounts count(RedisCommands<String, String> redis, long sure, BitSet unknown) {
		long lost = 0;
		long doubled = 0;
		long disordered = 0;
		long found = 0;
		BitSet there = new BitSet();
		for (int list = 0; list < this.lists; list++) {
			int last = -1;
			for (String value : redis.lrange(this.prefix + "l" + list, 0, -1)) {
				int index = Integer.parseInt(value);
				found++;
				doubled += (there.get(index)) ? 1 : 0;
				disordered += (index < last) ? 1 : 0;
				there.set(index);
				last = index;
			}
		}
		int[] expected = new int[COUNTERS];
		int[] least = new int[COUNTERS];
		for (int i = 0; i < this.size; i++) {
			if (this.pushes.get(i)) {
				lost += (there.get(i) || unknown.get(i)) ? 0 : 1;
			}
			else {
				int counter = ((i * 0x9E3779B1) >>> 8) % COUNTERS;
				expected[counter]++;
				least[counter] += (unknown.get(i)) ? 0 : 1;
			}
		}
		for (int counter = 0; counter < COUNTERS; counter++) {
			String value = redis.get(this.prefix + "n" + counter);
			long ran = (value != null) ? Long.parseLong(value) : 0;
			found += ran;
			lost += Math.max(0, least[counter] - ran);
			doubled += Math.max(0, ran - expected[counter]);
		}
		if (sure + unknown.cardinality() < this.size) {
			// Which of them ran is not told one by one.
			lost = Math.max(0, sure - (found - doubled));
			doubled = Math.max(doubled, found - sure - unknown.cardinality());
		}
		return new OnceCounts(this.size, found, lost, doubled, disordered, unknown.cardinality());
	}

	/**
	 * What became of the records.
	 *
	 * @param found how many ran, doubled ones included
	 */
	record OnceCounts(long records, long found, long lost, long doubled, long disordered, long unknown) {

	}

}
