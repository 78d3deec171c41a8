/**
 * Where jobs are found: those of this process, those that another one has left, and the
 * records of all of them in the control Redis.
 */
@NullMarked
package io.pipeset.job.directory;

import org.jspecify.annotations.NullMarked;
