package io.pipeset.report;

import java.util.Map;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The memory that the keys of a dry run would need in Redis, projected from a sample.
 *
 * @param bytes the memory of all keys, as if none of them existed yet
 * @param usedBytes the memory that all masters use now; {@code null} if it is unknown
 * @param maxBytes the {@code maxmemory} of all masters; {@code null} if one of them has
 * no limit, or it is unknown
 * @param fits whether the keys fit below {@code maxBytes}; {@code null} without a limit,
 * or if the estimate does not say it
 * @param sampled how many records were measured
 * @param types the keys and their memory by their type
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Estimate(long bytes, @Nullable Long usedBytes, @Nullable Long maxBytes, @Nullable Boolean fits,
		long sampled, Map<String, Keys> types) {

	/**
	 * The keys of one type.
	 *
	 * @param keys about how many
	 * @param bytes their memory
	 */
	public record Keys(long keys, long bytes) {

	}

}
