/** The figures as tables, targets and a chart. */
@NullMarked
package io.pipeset.benchmark.report;

import org.jspecify.annotations.NullMarked;
