/**
 * CSV: a header and rows go in, and records come out, whose cells the header's columns
 * make arguments.
 */
@NullMarked
package io.pipeset.record.csv;

import org.jspecify.annotations.NullMarked;
