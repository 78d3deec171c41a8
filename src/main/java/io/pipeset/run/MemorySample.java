package io.pipeset.run;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
import org.jspecify.annotations.Nullable;

/**
 * A sample of the records of a dry run, from which the memory of all of them is
 * projected. It is a sample of keys. A key's chance grows with its size, so that a large
 * key is in it for itself, and only what small keys cost is multiplied. When the sample
 * is full, it forgets the key of the worst priority: the hash of the key by its size.
 */
final class MemorySample {

	/** The memory of the sample, which is reserved for it. */
	static final int MAX_BYTES = 4 << 20;

	private static final int MAX_RECORDS = 1000;

	private static final int MAX_RECORDS_OF_KEY = 50;

	/** Before the sample forgets a key, it has no more records of a large collection. */
	private static final int FEW_RECORDS_OF_KEY = 16;

	/** Scripts may touch any key. The others grow strings by what they do not carry. */
	private static final Set<String> LEFT_OUT = Set.of("EVALSHA", "SETBIT", "SETRANGE", "BITFIELD");

	/** The last record of these says how large a string is. */
	private static final Set<String> REPLACING = Set.of("SET", "SETEX", "PSETEX", "SETNX", "GETSET", "MSET", "MSETNX",
			"INCR", "DECR", "INCRBY", "DECRBY", "INCRBYFLOAT", "APPEND", "PFADD");

	/** These make no key. */
	private static final Set<String> MAKING_NONE = Set.of("DEL", "UNLINK", "PERSIST", "EXPIRE", "PEXPIRE", "EXPIREAT",
			"PEXPIREAT");

	/** The sizes of collections are counted in two rows of so many counters. */
	private static final int COUNTERS = 1 << 15;

	/** A smaller collection is in the sample with all its records, or not at all. */
	private static final int LARGE_COLLECTION = 8 << 10;

	/** The size of all smaller collections: about that of a short string's record. */
	private static final int SMALL_SIZE = 256;

	/**
	 * Longer values are cut in the sample. What is cut off counts as Redis allocates it.
	 */
	private static final int MAX_VALUE = 512;

	/** A sample whose error may be larger says nothing: two standard deviations. */
	private static final double MAX_ERROR = 0.25;

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

	/** A key without elements and without its name. */
	private static final int EMPTY_BYTES = 52;

	/** A large sorted set without elements and without its name. */
	private static final int EMPTY_ZSET_BYTES = 740;

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
			    local bytes = redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0') or 0
			    -- All small numbers are the same objects of 16 bytes, if Redis shares them.
			    local shared = type == 'string' and redis.pcall('OBJECT', 'REFCOUNT', key) == 2147483647
			    keys[3 * i - 1] = bytes - (shared and 16 or 0)
			    keys[3 * i] = redis.call('PTTL', key)
			  end
			  redis.call('UNLINK', key)
			end
			return refused or keys
			""";

	private final byte[] prefix;

	/** The keys of the sample by their hashes. */
	private final Map<Integer, SampledKey> keys = new HashMap<>();

	private final SplittableRandom random = new SplittableRandom(1);

	private final long[] counters = new long[2 * COUNTERS];

	/** The keys of the sample have better priorities, all others worse ones. */
	private double threshold = Double.POSITIVE_INFINITY;

	private int records;

	private long bytes;

	/** The bytes of all records that make collections grow. */
	private long grown;

	/** The bytes of records with too many arguments, which count as they are. */
	private long largeBytes;

	/** Whether the records may need more. */
	private boolean atLeast;

	/**
	 * Creates an empty sample.
	 * @param jobId the id of the job, which is part of the sample's keys in Redis
	 */
	MemorySample(String jobId) {
		this.prefix = ("pipeset:estimate:" + jobId + ":").getBytes(StandardCharsets.US_ASCII);
	}

	/** Adds a valid record, if its key is in the sample. */
	void add(Record record) {
		String word = record.operation().word();
		this.atLeast |= LEFT_OUT.contains(word) || word.equals("APPEND") || word.equals("PFADD");
		if (LEFT_OUT.contains(word) || record.keyCount() == 0) {
			return;
		}
		long weight = record.commandBytes();
		if (record.argumentCount() > MAX_ARGUMENTS || (weight > MAX_BYTES / 2 && Command.isWhole(record))) {
			this.largeBytes += weight;
			return;
		}
		int hash = mix(record.keyHash());
		boolean making = !MAKING_NONE.contains(word);
		boolean growing = making && !REPLACING.contains(word);
		long earlier = (growing) ? grow(hash, weight) : 0;
		long size = (growing && earlier + weight < LARGE_COLLECTION) ? SMALL_SIZE : earlier + weight;
		SampledKey key = this.keys.get(hash);
		if (key == null) {
			key = new SampledKey(hash, earlier);
			if (!making || key.priority(size) >= this.threshold) {
				return;
			}
			this.keys.put(hash, key);
		}
		key.size = (making) ? Math.max(key.size, size) : key.size;
		key.grown += (growing) ? weight : 0;
		key.count += (growing) ? 1 : 0;
		long place = (growing && key.count > MAX_RECORDS_OF_KEY) ? this.random.nextLong(key.count)
				: key.place(word, growing);
		if (place < key.commands.size()) {
			forget(List.of(key.commands.get((int) place)));
			key.commands.set((int) place, command(record, (growing) ? weight : 0));
		}
		else if (place < MAX_RECORDS_OF_KEY) {
			key.commands.add(command(record, (growing) ? weight : 0));
		}
		while (this.records > MAX_RECORDS || this.bytes > MAX_BYTES - Long.BYTES * this.counters.length) {
			shrink();
		}
	}

	/**
	 * Counts a record of a collection.
	 * @return the bytes of the key's earlier records; 0 if they are few, because keys
	 * share their counters
	 */
	private long grow(int hash, long weight) {
		this.grown += weight;
		int first = hash & (COUNTERS - 1);
		int second = COUNTERS + (mix(hash + 1) & (COUNTERS - 1));
		long earlier = Math.min(this.counters[first], this.counters[second]);
		this.counters[first] += weight;
		this.counters[second] += weight;
		return (earlier > LARGE_COLLECTION + 4 * this.grown / COUNTERS) ? earlier - this.grown / COUNTERS : 0;
	}

	private Command command(Record record, long weight) {
		Command command = Command.of(record, this.prefix, weight, this.random.nextInt());
		this.records++;
		this.bytes += command.bytes();
		return command;
	}

	private void shrink() {
		SampledKey largest = Collections.max(this.keys.values(), Comparator.comparing(SampledKey::spareRecords));
		if (this.keys.size() == 1 || largest.spareRecords() > 0) {
			forget(List.of(largest.commands.remove(largest.commands.size() - 1)));
			return;
		}
		SampledKey worst = Collections.max(this.keys.values(), Comparator.comparing(SampledKey::priority));
		this.threshold = worst.priority();
		this.keys.remove(worst.hash);
		forget(worst.commands);
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
	 * @return {@code null} if the sample is too small for keys that differ so much
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	@Nullable Estimate measure(RedisNodes nodes) {
		SlotCalls calls = new SlotCalls(nodes);
		long begunNanos = System.nanoTime();
		List<MeasuredKey> found = new ArrayList<>();
		List<SampledKey> all = new ArrayList<>(this.keys.values());
		all.sort(Comparator.comparing(SampledKey::priority));
		int step = (nodes.isCluster()) ? 1 : KEYS_OF_SCRIPT;
		int measured = 0;
		while (measured < all.size() && System.nanoTime() - begunNanos < TIME_LIMIT.toNanos()) {
			List<SampledKey> some = all.subList(measured, Math.min(all.size(), measured + step));
			measure(calls, some, found);
			measured += some.size();
		}
		// The best keys are a sample too.
		double worst = (measured < all.size()) ? all.get(measured).priority() : this.threshold;
		List<SampledKey> some = all.subList(0, measured);
		double growth = some.stream().mapToDouble((key) -> key.grown * key.scale(worst)).sum();
		double factor = (growth > 0) ? this.grown / growth : 1;
		Map<String, Totals> types = new TreeMap<>();
		double collections = 0;
		for (MeasuredKey key : found) {
			double scale = key.sampled.scale(worst);
			key.sampled.measured += key.bytes;
			collections += (key.isString()) ? 0 : scale * key.bytes;
			scale *= (key.isString()) ? 1 : factor;
			Totals totals = types.computeIfAbsent(key.type, (unused) -> new Totals());
			totals.keys += scale;
			totals.bytes += scale * key.bytes;
		}
		double density = (growth > 0) ? collections / growth : 0;
		double variance = some.stream().mapToDouble((key) -> key.variance(worst, density)).sum();
		Map<String, Estimate.Keys> estimated = new TreeMap<>();
		types.forEach((type, totals) -> estimated.put(type,
				new Estimate.Keys(Math.round(totals.keys), Math.round(totals.bytes))));
		long total = this.largeBytes + ((growth > 0) ? 0 : this.grown)
				+ estimated.values().stream().mapToLong(Estimate.Keys::bytes).sum();
		if (2 * Math.sqrt(variance) > MAX_ERROR * total) {
			return null;
		}
		return withServers(total, some.stream().mapToLong((key) -> key.commands.size()).sum(), estimated,
				nodes.named());
	}

	private void measure(SlotCalls calls, List<SampledKey> some, List<MeasuredKey> found) {
		Map<String, SampledKey> keys = new LinkedHashMap<>();
		List<byte[]> arguments = new ArrayList<>();
		for (SampledKey key : some) {
			for (Command command : key.commands) {
				command.keys.forEach((name) -> keys.putIfAbsent(name, key));
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
				keys.values()
					.stream()
					.map((key) -> String.valueOf(key.growth()).getBytes(StandardCharsets.US_ASCII))
					.toList());
		List<Object> sizes = calls.evalRepeatable(Slots.of(names.get(0), 0, names.get(0).length), SCRIPT, names,
				arguments);
		int at = 0;
		for (Map.Entry<String, SampledKey> key : keys.entrySet()) {
			String type = new String((byte[]) sizes.get(at), StandardCharsets.US_ASCII);
			long bytes = (Long) sizes.get(at + 1);
			if (bytes > 0) {
				bytes += TABLE_BYTES - this.prefix.length + (((Long) sizes.get(at + 2) >= 0) ? EXPIRY_BYTES : 0);
				found.add(MeasuredKey.of(key.getValue(), type, bytes, key.getKey().length() - this.prefix.length));
			}
			at += 3;
		}
	}

	private Estimate withServers(long bytes, long sampled, Map<String, Estimate.Keys> types, List<RedisNode> masters) {
		Long used = 0L;
		Long most = 0L;
		for (RedisNode master : masters) {
			ServerMemory memory = master.calls().memory();
			used = (used != null && memory != null) ? Long.valueOf(used + memory.usedBytes()) : null;
			most = (most != null && memory != null && memory.isLimited()) ? Long.valueOf(most + memory.mostBytes())
					: null;
		}
		Boolean fits = (used != null && most != null) ? Boolean.valueOf(used + bytes <= most) : null;
		if (Boolean.TRUE.equals(fits) ? this.atLeast : types.containsKey("stream")) {
			fits = null;
		}
		return new Estimate(bytes, used, most, fits, sampled, types);
	}

	/** The keys of one type and their memory. */
	private static final class Totals {

		private double keys;

		private double bytes;

	}

	/** A key that was measured: the sampled one, or another that its records write. */
	private record MeasuredKey(SampledKey sampled, String type, double bytes) {

		private static MeasuredKey of(SampledKey sampled, String type, long measured, int nameBytes) {
			// A string has the size of its last value.
			double growth = (type.equals("string")) ? 1 : sampled.growth();
			long cut = sampled.commands.stream().mapToLong(Command::cut).sum();
			long empty = Math.min(measured,
					nameBytes + ((type.equals("zset") && growth > 1) ? EMPTY_ZSET_BYTES : EMPTY_BYTES));
			return new MeasuredKey(sampled, type, empty + (measured - empty + cut) * growth);
		}

		private boolean isString() {
			return this.type.equals("string");
		}

	}

	/** A key, and records that write it. */
	private static final class SampledKey {

		private final int hash;

		private final List<Command> commands = new ArrayList<>();

		/** The bytes by which the key has its priority. */
		private long size;

		/** The bytes of all records that make it grow, in the sample or not. */
		private long grown;

		/** The number of those that came since it is in the sample. */
		private long count;

		/** What it needs in Redis, with the other keys that its records write. */
		private double measured;

		private SampledKey(int hash, long grown) {
			this.hash = hash;
			this.grown = grown;
		}

		private int spareRecords() {
			return (this.size < LARGE_COLLECTION) ? 0 : Math.max(0, this.commands.size() - FEW_RECORDS_OF_KEY);
		}

		private double priority() {
			return priority(this.size);
		}

		private double priority(long size) {
			return (Integer.toUnsignedLong(this.hash) + 0.5) / size;
		}

		/** The number of keys for which this one stands. */
		private double scale(double worst) {
			return Math.max(1, 0x1p32 / (worst * this.size));
		}

		/** The square of what the total differs by if another key is in the sample. */
		private double variance(double worst, double density) {
			double surplus = this.measured - density * this.grown;
			return scale(worst) * (scale(worst) - 1) * surplus * surplus;
		}

		/** How many times the records in the sample all of its records are. */
		private double growth() {
			long sampled = this.commands.stream().mapToLong(Command::weight).sum();
			return (sampled > 0) ? (double) this.grown / sampled : 1;
		}

		/**
		 * The place of a record; one that does not grow replaces the last of its kind.
		 */
		private int place(String word, boolean growing) {
			int place = 0;
			while (place < this.commands.size() && (growing || !this.commands.get(place).word.equals(word))) {
				place++;
			}
			return place;
		}

	}

	/**
	 * A command that writes keys of the sample.
	 *
	 * @param words its name and arguments, of which long ones may be cut
	 * @param keys its keys, each byte as a character
	 * @param expires whether it is an HSET whose key expires
	 * @param weight its bytes if it makes a collection grow, or 0
	 * @param bytes its memory in the sample
	 * @param cut what Redis needs for the parts that were cut off, in bytes
	 */
	private record Command(String word, List<byte[]> words, List<String> keys, boolean expires, long weight, long bytes,
			long cut) {

		private static Command of(Record record, byte[] prefix, long weight, int number) {
			String word = record.operation().word();
			List<byte[]> words = new ArrayList<>();
			List<String> keys = new ArrayList<>();
			boolean expiringHash = record.operation() == Operation.HSET && record.script() != null;
			int first = record.command().firstKey();
			int keyCount = record.keyCount();
			words.add(word.getBytes(StandardCharsets.US_ASCII));
			long bytes = 0;
			long cut = 0;
			boolean whole = isWhole(record);
			for (int i = (expiringHash) ? first : 0; i < record.argumentCount(); i++) {
				if (expiringHash && i == first + 1) {
					// The expiry, which HSET does not take.
					continue;
				}
				boolean isKey = record.command().isKey(i, keyCount);
				int length = record.length(i);
				boolean isCut = length > MAX_VALUE && !isKey && !whole;
				if (isCut) {
					cut += allocated(length) - allocated(MAX_VALUE);
					length = MAX_VALUE;
				}
				byte[] argument = new byte[length + ((isKey) ? prefix.length : 0)];
				System.arraycopy(record.source(i), record.offset(i), argument, argument.length - length, length);
				if (isCut) {
					// Members that are cut stay different ones.
					ByteBuffer.wrap(argument).putInt(number + i);
				}
				if (isKey) {
					System.arraycopy(prefix, 0, argument, 0, prefix.length);
					keys.add(new String(argument, StandardCharsets.ISO_8859_1));
				}
				words.add(argument);
				bytes += ARGUMENT_BYTES + argument.length;
			}
			return new Command(word, words, keys, expiringHash, weight, bytes, cut);
		}

		/** Whether a record is refused if its arguments are cut. */
		private static boolean isWhole(Record record) {
			String word = record.operation().word();
			return record.length(record.command().firstKey()) > MAX_VALUE || word.indexOf('.') >= 0
					|| word.equals("RESTORE") || word.equals("VADD");
		}

		/**
		 * The memory of a string: its header, in one of four sizes for each power of two.
		 */
		private static long allocated(int length) {
			long step = Integer.highestOneBit(length + 9) / 4;
			return (length + 9 + step) / step * step;
		}

	}

}
