package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import io.pipeset.engine.pipeline.call.KeyFilter;

/**
 * A query for pages of keys and the facts about each key.
 *
 * @param filter the keys that SCAN returns
 * @param count about how many keys the server examines for a page
 * @param those the keys whose facts are queried
 * @param samples how many elements of a key MEMORY USAGE samples; 0 to omit it
 * @param maxBytes the maximum memory of a page
 * @param timeout how long to wait for each reply
 * @param isOver whether the facts are no longer needed; checked during each wait
 * @param goesOn whether to query another page before this one is taken
 */
public record KeyQuery(KeyFilter filter, int count, Predicate<byte[]> those, int samples, long maxBytes,
		Duration timeout, BooleanSupplier isOver, BooleanSupplier goesOn) {

}
