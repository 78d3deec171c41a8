package io.pipeset.job.run;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ServerMemory;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotCalls;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Slots;
import io.pipeset.report.Estimate;

/**
 * A sample of the records of a dry run, from which the memory of all of them is
 * projected. It is a sample of keys: it has all records of a key, or the first of many,
 * so that keys that many records write are not taken for many keys. Which keys it has is
 * decided by their hashes; each time it is full, it forgets half of them.
 */
final class MemorySample {

	/** The memory of the sample, which is reserved for it. */
	static final int MAX_BYTES = 4 << 20;

	private static final int MAX_RECORDS = 1000;

	private static final int MAX_RECORDS_OF_KEY = 50;

	/** With fewer keys, the sample forgets records instead. */
	private static final int FEW_KEYS = MAX_RECORDS / MAX_RECORDS_OF_KEY;

	/**
	 * Scripts may touch any key. The others may make a string of 512 MB by a few bytes.
	 */
	private static final Set<String> LEFT_OUT = Set.of("EVALSHA", "SETBIT", "SETRANGE", "BITFIELD");

	/** The stack of Lua holds a few thousand values. */
	private static final int MAX_ARGUMENTS = 5000;

	/** The memory of an argument in the sample in addition to its bytes. */
	private static final int ARGUMENT_BYTES = 24;

	/**
	 * The entry of a key in the hash table of all keys, which MEMORY USAGE leaves out.
	 */
	private static final int TABLE_BYTES = 12;

	/** The entry of a key in the hash table of keys that expire. */
	private static final int EXPIRY_BYTES = 36;

	private static final int KEYS_OF_SCRIPT = 20;

	private static final Duration TIME_LIMIT = Duration.ofSeconds(5);

	/**
	 * Runs commands, and returns the type, the memory and the remaining time of each key.
	 * A collection of which the sample has only a part may have too few elements for the
	 * encoding that all of them will have; a long element, added and removed again, turns
	 * it into that. The script removes the keys, so that none is left whatever happens.
	 */
	private static final String SCRIPT = """
			local at = 1 + #KEYS
			local refused
			while at <= #ARGV and not refused do
			  local count = tonumber(ARGV[at])
			  local reply = redis.pcall(unpack(ARGV, at + 1, at + count))
			  if type(reply) == 'table' and reply.err and string.find(reply.err, '^-?OOM') then
			    refused = reply
			  end
			  at = at + count + 1
			end
			local long = string.rep('x', 1000)
			local compact = {
			  hash = {'HLEN', 512, {'HSET', long, 1}, 'HDEL'},
			  set = {'SCARD', 512, {'SADD', long}, 'SREM'},
			  zset = {'ZCARD', 128, {'ZADD', 0, long}, 'ZREM'}
			}
			local keys = {}
			for i, key in ipairs(KEYS) do
			  if not refused then
			    local type = redis.call('TYPE', key).ok
			    local limit = compact[type]
			    if limit and redis.call(limit[1], key) * tonumber(ARGV[i]) > limit[2] then
			      redis.call(limit[3][1], key, unpack(limit[3], 2))
			      redis.call(limit[4], key, long)
			    end
			    keys[3 * i - 2] = type
			    keys[3 * i - 1] = redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0') or 0
			    keys[3 * i] = redis.call('PTTL', key)
			  end
			  redis.call('UNLINK', key)
			end
			return refused or keys
			""";

	private final byte[] prefix;

	private final Map<String, SampledKey> keys = new LinkedHashMap<>();

	private final SplittableRandom random = new SplittableRandom(1);

	/** A key is in the sample if its hash begins with so many zeros. */
	private int zeros;

	private int records;

	private long bytes;

	/**
	 * The bytes of records that are too large for the sample, which count as they are.
	 */
	private long largeBytes;

	/**
	 * Creates an empty sample.
	 * @param jobId the id of the job, which is part of the sample's keys in Redis
	 */
	MemorySample(String jobId) {
		this.prefix = ("pipeset:estimate:" + jobId + ":").getBytes(StandardCharsets.US_ASCII);
	}

	/** Adds a valid record, if its key is in the sample. */
	void add(Record record) {
		if (LEFT_OUT.contains(record.operation().word()) || record.keyCount() == 0) {
			return;
		}
		if (record.commandBytes() > MAX_BYTES / 2 || record.argumentCount() > MAX_ARGUMENTS) {
			this.largeBytes += record.commandBytes();
			return;
		}
		if (Integer.numberOfLeadingZeros(mix(record.keyHash())) < this.zeros) {
			return;
		}
		int first = record.command().firstKey();
		String name = new String(record.source(first), record.offset(first), record.length(first),
				StandardCharsets.ISO_8859_1);
		SampledKey key = this.keys.computeIfAbsent(name, (unused) -> new SampledKey(mix(record.keyHash())));
		key.count++;
		if (key.commands.size() < MAX_RECORDS_OF_KEY) {
			key.commands.add(command(record));
		}
		else {
			long replaced = this.random.nextLong(key.count);
			if (replaced >= MAX_RECORDS_OF_KEY) {
				return;
			}
			this.records--;
			this.bytes -= key.commands.get((int) replaced).bytes();
			key.commands.set((int) replaced, command(record));
		}
		while (this.records > MAX_RECORDS || this.bytes > MAX_BYTES) {
			shrink();
		}
	}

	private Command command(Record record) {
		Command command = Command.of(record, this.prefix);
		this.records++;
		this.bytes += command.bytes();
		return command;
	}

	private void shrink() {
		if (this.keys.size() <= FEW_KEYS) {
			SampledKey largest = Objects
				.requireNonNull(this.keys.values().stream().max(Comparator.comparing(SampledKey::bytes)).orElse(null));
			if (largest.commands.size() == 1) {
				this.largeBytes += largest.bytes() << this.zeros;
				this.keys.values().remove(largest);
			}
			forget(List.of(largest.commands.remove(largest.commands.size() - 1)));
			return;
		}
		this.zeros++;
		this.keys.values().removeIf((key) -> {
			boolean forgotten = Integer.numberOfLeadingZeros(key.hash) < this.zeros;
			if (forgotten) {
				forget(key.commands);
			}
			return forgotten;
		});
	}

	private void forget(List<Command> commands) {
		this.records -= commands.size();
		this.bytes -= commands.stream().mapToLong(Command::bytes).sum();
	}

	/**
	 * The finalizer of MurmurHash3, because the hash of a key has no random first bits.
	 */
	private static int mix(int hash) {
		int mixed = (hash ^ (hash >>> 16)) * 0x85ebca6b;
		mixed = (mixed ^ (mixed >>> 13)) * 0xc2b2ae35;
		return mixed ^ (mixed >>> 16);
	}

	/**
	 * Writes the sample to Redis, measures it, and removes it.
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	Estimate measure(RedisNodes nodes) {
		SlotCalls calls = new SlotCalls(nodes);
		long begunNanos = System.nanoTime();
		Map<String, Totals> types = new TreeMap<>();
		List<SampledKey> all = List.copyOf(this.keys.values());
		int step = (nodes.isCluster()) ? 1 : KEYS_OF_SCRIPT;
		int measured = 0;
		long sampled = 0;
		while (measured < all.size() && System.nanoTime() - begunNanos < TIME_LIMIT.toNanos()) {
			List<SampledKey> some = all.subList(measured, Math.min(all.size(), measured + step));
			measure(calls, some, types);
			measured += some.size();
			sampled += some.stream().mapToLong((key) -> key.commands.size()).sum();
		}
		double scale = Math.pow(2, this.zeros) * all.size() / Math.max(1, measured);
		Map<String, Estimate.Keys> estimated = new TreeMap<>();
		types.forEach((type, totals) -> estimated.put(type,
				new Estimate.Keys(Math.round(totals.keys * scale), Math.round(totals.bytes * scale))));
		long bytes = this.largeBytes + estimated.values().stream().mapToLong(Estimate.Keys::bytes).sum();
		return withServers(bytes, sampled, estimated, nodes.named());
	}

	private void measure(SlotCalls calls, List<SampledKey> some, Map<String, Totals> types) {
		Map<String, Double> keys = new LinkedHashMap<>();
		List<byte[]> arguments = new ArrayList<>();
		for (SampledKey key : some) {
			for (Command command : key.commands) {
				command.keys.forEach((name) -> keys.merge(name, key.scale(), Math::max));
				arguments.add(String.valueOf(command.words.size()).getBytes(StandardCharsets.US_ASCII));
				arguments.addAll(command.words);
				if (command.expires) {
					List.of("3", "EXPIRE", command.keys.get(0), "3600")
						.forEach((word) -> arguments.add(word.getBytes(StandardCharsets.ISO_8859_1)));
				}
			}
		}
		List<byte[]> names = keys.keySet().stream().map((name) -> name.getBytes(StandardCharsets.ISO_8859_1)).toList();
		arguments.addAll(0,
				keys.values().stream().map((scale) -> scale.toString().getBytes(StandardCharsets.US_ASCII)).toList());
		List<Object> sizes = calls.evalRepeatable(Slots.of(names.get(0), 0, names.get(0).length), SCRIPT, names,
				arguments);
		int at = 0;
		for (double scale : keys.values()) {
			String type = new String((byte[]) sizes.get(at), StandardCharsets.US_ASCII);
			long bytes = (Long) sizes.get(at + 1);
			if (bytes > 0) {
				bytes += TABLE_BYTES - this.prefix.length + (((Long) sizes.get(at + 2) >= 0) ? EXPIRY_BYTES : 0);
				Totals totals = types.computeIfAbsent(type, (unused) -> new Totals());
				totals.keys++;
				// A string has the size of its last value.
				totals.bytes += bytes * (type.equals("string") ? 1 : scale);
			}
			at += 3;
		}
	}

	private static Estimate withServers(long bytes, long sampled, Map<String, Estimate.Keys> types,
			List<RedisNode> masters) {
		Long used = 0L;
		Long most = 0L;
		for (RedisNode master : masters) {
			ServerMemory memory = master.calls().memory();
			used = (used != null && memory != null) ? Long.valueOf(used + memory.usedBytes()) : null;
			most = (most != null && memory != null && memory.isLimited()) ? Long.valueOf(most + memory.mostBytes())
					: null;
		}
		Boolean fits = (used != null && most != null) ? Boolean.valueOf(used + bytes <= most) : null;
		return new Estimate(bytes, used, most, fits, sampled, types);
	}

	/** The memory of the keys of one type in the sample. */
	private static final class Totals {

		private long keys;

		private double bytes;

	}

	/** A key, and records that write it. */
	private static final class SampledKey {

		private final int hash;

		private final List<Command> commands = new ArrayList<>();

		/** All of its records, in the sample or not. */
		private long count;

		private SampledKey(int hash) {
			this.hash = hash;
		}

		private long bytes() {
			return this.commands.stream().mapToLong(Command::bytes).sum();
		}

		private double scale() {
			return (double) this.count / this.commands.size();
		}

	}

	/**
	 * A command that writes keys of the sample.
	 *
	 * @param words its name and arguments
	 * @param keys its keys, each byte as a character
	 * @param expires whether it is an HSET whose key expires
	 */
	private record Command(List<byte[]> words, List<String> keys, boolean expires, long bytes) {

		private static Command of(Record record, byte[] prefix) {
			List<byte[]> words = new ArrayList<>();
			List<String> keys = new ArrayList<>();
			boolean expiringHash = record.operation() == Operation.HSET && record.script() != null;
			int first = record.command().firstKey();
			int keyCount = record.keyCount();
			words.add(record.operation().word().getBytes(StandardCharsets.US_ASCII));
			long bytes = 0;
			for (int i = (expiringHash) ? first : 0; i < record.argumentCount(); i++) {
				if (expiringHash && i == first + 1) {
					// The expiry, which HSET does not take.
					continue;
				}
				boolean isKey = record.command().isKey(i, keyCount);
				byte[] word = new byte[record.length(i) + ((isKey) ? prefix.length : 0)];
				System.arraycopy(record.source(i), record.offset(i), word, word.length - record.length(i),
						record.length(i));
				if (isKey) {
					System.arraycopy(prefix, 0, word, 0, prefix.length);
					keys.add(new String(word, StandardCharsets.ISO_8859_1));
				}
				words.add(word);
				bytes += ARGUMENT_BYTES + word.length;
			}
			return new Command(words, keys, expiringHash, bytes);
		}

	}

}
