/**
 * Connections to Redis: slabs go in, {@code executePipelined} runs them, and they come
 * back answered or lost. The only package that knows Lettuce and Spring Data Redis.
 */
@NullMarked
package io.pipeset.pipeline;

import org.jspecify.annotations.NullMarked;
