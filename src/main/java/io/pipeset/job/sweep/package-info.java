/**
 * Sweeps: the keys that SCAN finds in Redis, as the records of a job. A filter of keys
 * goes in, and a record for each key comes out, a page ahead of the job.
 */
@NullMarked
package io.pipeset.job.sweep;

import org.jspecify.annotations.NullMarked;
