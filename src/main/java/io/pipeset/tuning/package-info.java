/**
 * Tunings: each row of a grid of settings is run against Redis with generated records.
 * The report has measurements of each row and a recommendation.
 */
@NullMarked
package io.pipeset.tuning;

import org.jspecify.annotations.NullMarked;
