/**
 * A job: its client, limits, rate limit and report draft. The packages below it have its
 * settings, input, run and files, and the directory of all jobs.
 */
@NullMarked
package io.pipeset.job;

import org.jspecify.annotations.NullMarked;
