/**
 * Sends a job's records to Redis in order, and limits how many are in flight at once. The
 * thread that reads the input gives each record to a lane. All records of a key go to the
 * same lane. A lane sends records in batches, each on one connection, and enters their
 * outcomes into the job's account. After a loss, the lane sends again what the job
 * allows.
 * <p>
 * The order depends on one queue per lane, which gives each slab one owner at a time.
 * {@code LaneQueue} has the proof.
 */
@NullMarked
package io.pipeset.engine.lane;

import org.jspecify.annotations.NullMarked;
