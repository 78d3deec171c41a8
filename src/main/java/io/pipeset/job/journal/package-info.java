/**
 * What is on disk of a job: its request, the outcomes of its records, and what callers
 * have asked for.
 */
@NullMarked
package io.pipeset.job.journal;

import org.jspecify.annotations.NullMarked;
