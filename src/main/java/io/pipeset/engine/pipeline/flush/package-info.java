/**
 * When commands leave for the socket: the flush policies that a job may name go in, and
 * come out as Spring Data Redis's own, each for the job whose batch a thread runs.
 */
@NullMarked
package io.pipeset.engine.pipeline.flush;

import org.jspecify.annotations.NullMarked;
