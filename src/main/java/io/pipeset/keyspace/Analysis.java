package io.pipeset.keyspace;

import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.report.JobState;
import org.jspecify.annotations.Nullable;

/**
 * The result of an analysis: the totals of a keyspace.
 *
 * @param keys the keys that were counted
 * @param vanished the keys that SCAN returned and that no longer existed when they were
 * queried
 * @param bytes the memory of all keys, in bytes; {@code null} if bytes are omitted
 * @param bytesLeftOut why bytes are omitted; {@code null} if they are not
 * @param elementsLeftOut why the largest keys have no element counts; {@code null} if
 * they have them
 * @param restarts how often the analysis started again because Redis was restarted or a
 * master was replaced; {@code null} for never
 * @param masters the keys of each master of a cluster; {@code null} for a single server
 * @param partialSlots how many slots moved during the analysis or had no master, so that
 * some of their keys may be missing; {@code null} for none
 * @param prefixesOmitted how many prefixes are added up under {@code (other)}
 * @param sizes the keys by their memory; {@code null} if bytes are omitted
 * @param largest the largest keys; {@code null} if bytes are omitted
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
	 * @param complete whether all of its keys were scanned
	 */
	public record Master(String node, long keys, boolean complete) {

	}

	/**
	 * The keys of one type.
	 *
	 * @param type the name that TYPE returns
	 * @param bytes their memory, in bytes; {@code null} if bytes are omitted
	 * @param largestBytes the memory of the largest key, in bytes; {@code null} if bytes
	 * are omitted
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Type(String type, long keys, @Nullable Long bytes, @Nullable Long largestBytes) {

	}

	/**
	 * The keys with one prefix.
	 *
	 * @param prefix a string, or its bytes in base64 if they are not UTF-8
	 * @param bytes their memory, in bytes; {@code null} if bytes are omitted
	 * @param partial {@code true} if some keys of the prefix may be counted under
	 * {@code (other)}; {@code null} if not
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Prefix(Object prefix, long keys, @Nullable Long bytes, Map<String, Long> types, long withoutTtl,
			@Nullable Boolean partial) {

	}

	/**
	 * The keys whose remaining time to live is in one range.
	 *
	 * @param within the upper end of the range, such as {@code 1h}; the previous entry is
	 * its lower end
	 */
	public record Ttl(String within, long keys) {

	}

	/**
	 * The keys whose size is in one range.
	 *
	 * @param upToBytes the largest size in the range, in bytes; the previous entry is its
	 * lower end
	 */
	public record Size(long upToBytes, long keys) {

	}

	/**
	 * One of the largest keys.
	 *
	 * @param key a string, or its bytes in base64 if they are not UTF-8
	 * @param type the name that TYPE returns
	 * @param bytes its memory, in bytes
	 * @param elements the number of its elements, or the bytes of a string; {@code null}
	 * if it is not known
	 * @param ttlMillis its remaining time to live; {@code null} if it never expires
	 */
	public record Largest(Object key, String type, long bytes, @Nullable Long elements, @Nullable Long ttlMillis) {

	}

	/**
	 * The duration of an analysis.
	 *
	 * @param totalMillis from the start of the job to its end, waits included
	 */
	public record Timings(double totalMillis) {

	}

}
