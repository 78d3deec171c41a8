package io.pipeset.job.memory;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.util.unit.DataSize;

/**
 * The memory of the service.
 *
 * @param budget the size of their callers' data that all jobs together may hold, on its
 * way in either direction; by default it is derived from the heap and the direct memory,
 * of which it has to leave some to the service itself
 */
@ConfigurationProperties("pipeset.memory")
public record MemoryProperties(@Nullable DataSize budget) {

}
