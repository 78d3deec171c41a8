/**
 * What is kept of jobs beyond their requests: the files of asynchronous jobs in the
 * spool, the journal that lets another process resume a job, the directory of all jobs,
 * and the reports to callbacks.
 */
@NullMarked
package io.pipeset.keep;

import org.jspecify.annotations.NullMarked;
