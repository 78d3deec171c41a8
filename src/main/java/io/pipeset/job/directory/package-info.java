/**
 * The directory of jobs: those of this process, interrupted ones of earlier processes,
 * and the records of all jobs in the control Redis.
 */
@NullMarked
package io.pipeset.job.directory;

import org.jspecify.annotations.NullMarked;
