/**
 * The account of a job: outcomes, counts, items, timings and meters. It uses no other
 * package.
 */
@NullMarked
package io.pipeset.report;

import org.jspecify.annotations.NullMarked;
