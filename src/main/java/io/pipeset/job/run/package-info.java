/**
 * Runs jobs: the queue, the execution, the rate limit and the end of each.
 */
@NullMarked
package io.pipeset.job.run;

import org.jspecify.annotations.NullMarked;
