/**
 * The inputs of jobs: records that the service makes itself, and uploaded bodies. Bodies
 * are inflated and decoded here. Before the reading thread waits for more bytes, the
 * records read so far are handed to the lanes.
 */
@NullMarked
package io.pipeset.job.input;

import org.jspecify.annotations.NullMarked;
