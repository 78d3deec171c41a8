/**
 * The account of a job: outcomes, counts, items, timings and meters. This package uses no
 * other package of the service.
 */
@NullMarked
package io.pipeset.report;

import org.jspecify.annotations.NullMarked;
