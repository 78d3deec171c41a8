/**
 * The spool: files of asynchronous jobs on disk, with a limit on their total size. A
 * later process finds the files of jobs that have not ended.
 */
@NullMarked
package io.pipeset.job.spool;

import org.jspecify.annotations.NullMarked;
