/**
 * What became of every record, and how long it took: outcomes, counts, items, timings and
 * meters.
 */
@NullMarked
package io.pipeset.report;

import org.jspecify.annotations.NullMarked;
