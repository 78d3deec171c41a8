package io.pipeset.keyspace;

import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.report.JobState;
import org.jspecify.annotations.Nullable;

/**
 * The totals of a keyspace.
 *
 * @param keys the keys that were looked at and were there
 * @param vanished the keys that were gone between SCAN and the look at them
 * @param bytes the memory of all keys; {@code null} where it is left out
 * @param bytesLeftOut why bytes are left out; {@code null} where they are not
 * @param elementsLeftOut why the largest keys have no number of elements; {@code null}
 * where they have
 * @param restarts how often Redis was started anew, or a master replaced, and the
 * analysis begun anew; {@code null} for never
 * @param masters the keys of each master of a cluster; {@code null} for a single server
 * @param partialSlots the slots that moved meanwhile, or had no master: some of their
 * keys may be missing; {@code null} for none
 * @param prefixesOmitted the prefixes that count as others
 * @param sizes the keys by their memory; {@code null} where bytes are left out
 * @param largest the largest keys; {@code null} where bytes are left out
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Analysis(String analysisId, JobState state, long keys, long vanished, @Nullable Long bytes,
		@Nullable String bytesLeftOut, @Nullable String elementsLeftOut, @Nullable Integer restarts,
		@Nullable List<Master> masters, @Nullable Integer partialSlots, List<Type> types, List<Prefix> prefixes,
		long prefixesOmitted, List<Ttl> ttls, @Nullable List<Size> sizes, @Nullable List<Largest> largest,
		Timings timings, long keysPerSecond) {

	/**
	 * The keys of one master.
	 *
	 * @param node its host and port
	 * @param complete whether it was walked to its end
	 */
	public record Master(String node, long keys, boolean complete) {

	}

	/**
	 * The keys of one type.
	 *
	 * @param type as TYPE names it
	 * @param bytes their memory; {@code null} where it is left out
	 * @param largestBytes the memory of the largest; {@code null} where it is left out
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Type(String type, long keys, @Nullable Long bytes, @Nullable Long largestBytes) {

	}

	/**
	 * The keys with one prefix.
	 *
	 * @param prefix a string, or its bytes in base64 where they are not UTF-8
	 * @param bytes their memory; {@code null} where it is left out
	 * @param partial {@code true} where some keys of the prefix count as others;
	 * {@code null} where none do
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Prefix(Object prefix, long keys, @Nullable Long bytes, Map<String, Long> types, long withoutTtl,
			@Nullable Boolean partial) {

	}

	/**
	 * The keys that have no more than some time left.
	 *
	 * @param within the time, and more than in the entry before
	 */
	public record Ttl(String within, long keys) {

	}

	/**
	 * The keys up to one size.
	 *
	 * @param upToBytes the size, and more than in the entry before
	 */
	public record Size(long upToBytes, long keys) {

	}

	/**
	 * One of the largest keys.
	 *
	 * @param key a string, or its bytes in base64 where they are not UTF-8
	 * @param type as TYPE names it
	 * @param bytes its memory
	 * @param elements the number of its elements, or the bytes of a string; {@code null}
	 * where that is not known
	 * @param ttlMillis the time that it had left; {@code null} if it never expires
	 */
	public record Largest(Object key, String type, long bytes, @Nullable Long elements, @Nullable Long ttlMillis) {

	}

	/**
	 * How long it took.
	 *
	 * @param totalMillis from the first wait to the end
	 */
	public record Timings(double totalMillis) {

	}

}
