/**
 * Sends a job's records to Redis in their order, and no more of them at once than may be
 * on their way. Records come in from the thread that reads them, each key always into the
 * same lane. They leave in batches, each on a connection of its own, and their outcomes
 * go into the job's account. After a loss the lane sends again what the job allows.
 * <p>
 * The order rests on one queue a lane, which gives each slab one owner at a time;
 * {@code LaneQueue} has the proof.
 */
@NullMarked
package io.pipeset.engine.lane;

import org.jspecify.annotations.NullMarked;
