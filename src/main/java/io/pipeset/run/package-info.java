/**
 * Runs jobs, each from its turn to its report: admission, queue, execution, rate limit
 * and end. With {@code replace}, it then removes the keys that the job has not written.
 */
@NullMarked
package io.pipeset.run;

import org.jspecify.annotations.NullMarked;
