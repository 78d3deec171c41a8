/**
 * The files of a job on disk that let another process resume it: its request, the
 * outcomes of its records, and the changes that callers have requested.
 */
@NullMarked
package io.pipeset.job.journal;

import org.jspecify.annotations.NullMarked;
