/**
 * Single calls: a command goes to one server of Redis on a lent connection, and its
 * answer comes back before the next is sent. The way in is
 * {@link io.pipeset.engine.pipeline.call.RedisCalls}. Batches of jobs borrow their
 * connections here as well, from the
 * {@link io.pipeset.engine.pipeline.call.ConnectionLender}.
 */
@NullMarked
package io.pipeset.engine.pipeline.call;

import org.jspecify.annotations.NullMarked;
