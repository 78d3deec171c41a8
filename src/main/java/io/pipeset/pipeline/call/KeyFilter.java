package io.pipeset.pipeline.call;

import org.jspecify.annotations.Nullable;

/**
 * The keys that SCAN reports.
 *
 * @param match the glob-style pattern of their names
 * @param type their type, as the command TYPE names it; {@code null} for all
 */
public record KeyFilter(String match, @Nullable String type) {

}
