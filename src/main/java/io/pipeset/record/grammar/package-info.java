/** The grammar of JSON: values are checked, and read in their places. */
@NullMarked
package io.pipeset.record.grammar;

import org.jspecify.annotations.NullMarked;
