/**
 * The control Redis: the records of jobs that outlive their requests, for all instances
 * of the service. It has connections of its own, and keys under {@code pipeset:}.
 */
@NullMarked
package io.pipeset.job.control;

import org.jspecify.annotations.NullMarked;
