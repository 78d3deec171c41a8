/**
 * Flush policies: when a job's commands are written to the socket. They are parsed from a
 * job's settings, and applied as Spring Data Redis's policies for the batch that a thread
 * runs.
 */
@NullMarked
package io.pipeset.engine.pipeline.flush;

import org.jspecify.annotations.NullMarked;
