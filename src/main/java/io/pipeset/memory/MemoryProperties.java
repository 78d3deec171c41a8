package io.pipeset.memory;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.util.unit.DataSize;

/**
 * The memory of the service.
 *
 * @param budget the most bytes of request and response data that all jobs together may
 * hold; by default derived from the heap and the direct memory, of which the service
 * itself needs a part
 */
@ConfigurationProperties("pipeset.memory")
public record MemoryProperties(@Nullable DataSize budget) {

}
