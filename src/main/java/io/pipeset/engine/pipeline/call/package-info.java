/**
 * Single calls to one Redis server: each command is sent on a lent connection after the
 * reply to the one before. The entry point is
 * {@link io.pipeset.engine.pipeline.call.RedisCalls}. Batches borrow their connections
 * from {@link io.pipeset.engine.pipeline.call.ConnectionLender}.
 */
@NullMarked
package io.pipeset.engine.pipeline.call;

import org.jspecify.annotations.NullMarked;
