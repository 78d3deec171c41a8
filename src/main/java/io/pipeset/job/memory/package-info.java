/**
 * The memory that jobs share for the data of their callers. Each job takes its share
 * before it allocates, waits where others hold too much, and gives the share back when
 * its answer is written.
 */
@NullMarked
package io.pipeset.job.memory;

import org.jspecify.annotations.NullMarked;
