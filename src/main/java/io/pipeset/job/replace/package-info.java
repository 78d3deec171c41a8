/**
 * The keys that a job has written, so that it can remove the others: their fingerprints
 * in a file of the spool.
 */
@NullMarked
package io.pipeset.job.replace;

import org.jspecify.annotations.NullMarked;
