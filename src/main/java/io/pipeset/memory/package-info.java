/**
 * The memory budget that all jobs share for request and response data. Each job reserves
 * memory before it allocates it, waits if others hold too much, and releases it when its
 * response is written.
 */
@NullMarked
package io.pipeset.memory;

import org.jspecify.annotations.NullMarked;
