/**
 * Sweeps: jobs whose records are made from the keys that SCAN returns. Pages of keys are
 * prefetched while the job runs.
 */
@NullMarked
package io.pipeset.job.sweep;

import org.jspecify.annotations.NullMarked;
