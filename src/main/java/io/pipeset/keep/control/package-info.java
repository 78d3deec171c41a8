/**
 * The control Redis: records of asynchronous jobs and idempotency keys, shared by all
 * instances of the service. It has its own connections, and its keys begin with
 * {@code pipeset:}.
 */
@NullMarked
package io.pipeset.keep.control;

import org.jspecify.annotations.NullMarked;
