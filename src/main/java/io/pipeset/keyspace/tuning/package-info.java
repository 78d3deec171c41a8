/**
 * Tunings: each row of a grid of settings is run against Redis with generated records.
 * The report has measurements of each row and a recommendation.
 */
@NullMarked
package io.pipeset.keyspace.tuning;

import org.jspecify.annotations.NullMarked;
