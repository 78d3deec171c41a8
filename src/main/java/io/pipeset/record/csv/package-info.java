/** Reads records from CSV: the header gives the meaning of the cells in each row. */
@NullMarked
package io.pipeset.record.csv;

import org.jspecify.annotations.NullMarked;
