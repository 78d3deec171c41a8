/**
 * The runs of jobs: their places in the queue, their execution, their pace and their end.
 */
@NullMarked
package io.pipeset.job.run;

import org.jspecify.annotations.NullMarked;
