package io.pipeset.keyspace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.engine.pipeline.KeyFacts;
import io.pipeset.keyspace.Analysis.Largest;
import io.pipeset.keyspace.Analysis.Master;
import io.pipeset.keyspace.Analysis.Prefix;
import io.pipeset.keyspace.Analysis.Size;
import io.pipeset.keyspace.Analysis.Ttl;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.run.Task;
import org.jspecify.annotations.Nullable;

/** Builds the result of an analysis from its totals after it has ended. */
final class AnalysisReport {

	/** The name of the entry for keys without a prefix. */
	private static final String NONE = "(none)";

	/** The name of the entry for the keys of all prefixes that are not listed. */
	private static final String OTHER = "(other)";

	private static final List<String> TTL_RANGES = List.of("1m", "1h", "1d", "7d", "longer", "never");

	/**
	 * The memory in bytes of an entry in the result, in addition to its prefix or key.
	 */
	private static final int ENTRY_BYTES = 400;

	private final Task task;

	private final Totals totals;

	private final List<String> types;

	private final boolean sized;

	AnalysisReport(Task task, Totals totals) {
		this.task = task;
		this.totals = totals;
		this.types = totals.types();
		this.sized = totals.bytesLeftOut() == null;
	}

	/**
	 * Builds the result, after it has queried the lengths of the largest keys.
	 * @param masters the masters of a cluster; {@code null} for a single server, and if
	 * no master was scanned
	 * @param partialSlots how many slots may be counted only in part
	 */
	Analysis build(int restarts, LargestLengths lengths, @Nullable List<Master> masters, int partialSlots) {
		this.totals.prefixes().finish();
		List<Prefix> prefixes = prefixes();
		List<Largest> largest = (this.sized) ? largest(lengths) : null;
		double millis = this.task.clock().timings().totalMillis();
		boolean measured = largest != null && !largest.isEmpty();
		return new Analysis(this.task.id(), this.task.ending().cause().state(), this.totals.keys(),
				this.totals.vanished(), bytes(this.totals.bytes()), this.totals.bytesLeftOut(),
				(measured) ? lengths.error() : null, (restarts > 0) ? restarts : null, masters,
				(partialSlots > 0) ? partialSlots : null, types(), prefixes, this.totals.prefixes().omitted(), ttls(),
				(this.sized) ? sizes() : null, largest, new Analysis.Timings(millis),
				Math.round(this.totals.keys() * 1000 / Math.max(millis, 0.001)));
	}

	private @Nullable Long bytes(long bytes) {
		return (this.sized) ? bytes : null;
	}

	private List<Analysis.Type> types() {
		List<Analysis.Type> types = new ArrayList<>();
		for (int type = 0; type < this.types.size(); type++) {
			long keys = this.totals.keysOfType(type);
			if (keys > 0) {
				types.add(new Analysis.Type(this.types.get(type), keys, bytes(this.totals.bytesOfType(type)),
						bytes(this.totals.largestOfType(type))));
			}
		}
		types.sort(Comparator.comparingLong((type) -> -weight(type.bytes(), type.keys())));
		return types;
	}

	private long weight(@Nullable Long bytes, long keys) {
		return (bytes != null) ? bytes : keys;
	}

	private List<Prefix> prefixes() {
		Prefixes all = this.totals.prefixes();
		List<Prefix> prefixes = new ArrayList<>();
		if (all.none().keys() > 0) {
			prefixes.add(prefix(NONE, all.none()));
		}
		all.listed().forEach((totals) -> prefixes.add(prefix(text(totals.prefix()), totals)));
		prefixes.sort(Comparator.comparingLong((prefix) -> -weight(prefix.bytes(), prefix.keys())));
		this.task.memory().correctReport(prefixes.size() * (long) ENTRY_BYTES + 2 * all.textBytes());
		if (all.others().keys() > 0) {
			prefixes.add(prefix(OTHER, all.others()));
		}
		return prefixes;
	}

	/**
	 * Shows a prefix. A prefix equal to {@link #NONE} or {@link #OTHER} is shown as
	 * base64.
	 */
	private static Object text(byte[] prefix) {
		Object text = Encoding.UTF8.show(prefix, 0, prefix.length);
		return (NONE.equals(text) || OTHER.equals(text))
				? Map.of("base64", Encoding.BASE64.show(prefix, 0, prefix.length)) : text;
	}

	private Prefix prefix(Object prefix, PrefixTotals totals) {
		Map<String, Long> types = new LinkedHashMap<>();
		for (int type = 0; type < this.types.size(); type++) {
			long keys = totals.keysOfType(type);
			if (keys > 0) {
				types.put(this.types.get(type), keys);
			}
		}
		return new Prefix(prefix, totals.keys(), bytes(totals.bytes()), types, totals.withoutTtl(),
				(totals.isPartial()) ? true : null);
	}

	private List<Ttl> ttls() {
		List<Ttl> ttls = new ArrayList<>();
		for (int bucket = 0; bucket < TTL_RANGES.size(); bucket++) {
			ttls.add(new Ttl(TTL_RANGES.get(bucket), this.totals.ttls()[bucket]));
		}
		return ttls;
	}

	/** The size ranges up to the range of the largest key. */
	private List<Size> sizes() {
		long[] counts = this.totals.sizes();
		int end = counts.length;
		while (end > Totals.FIRST_SIZE && counts[end - 1] == 0) {
			end--;
		}
		List<Size> sizes = new ArrayList<>();
		for (int bucket = Totals.FIRST_SIZE; bucket < end; bucket++) {
			sizes.add(new Size(1L << bucket, counts[bucket]));
		}
		return sizes;
	}

	private List<Largest> largest(LargestLengths lengths) {
		List<Largest> largest = new ArrayList<>();
		long memory = 0;
		for (KeyFacts key : this.totals.largest().sorted()) {
			byte[] name = key.name();
			largest.add(new Largest(Encoding.UTF8.show(name, 0, name.length), key.type(), key.bytes(), lengths.of(key),
					(key.ttlMillis() >= 0) ? key.ttlMillis() : null));
			memory += ENTRY_BYTES + 2L * name.length;
		}
		this.task.memory().correctReport(memory);
		return largest;
	}

}
