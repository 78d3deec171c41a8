/**
 * One batch through {@code executePipelined}: slabs of commands, flush policies,
 * connections and replies. The only place that knows Lettuce.
 */
@NullMarked
package io.pipeset.pipeline;

import org.jspecify.annotations.NullMarked;
