/**
 * How the rows and objects of a body become records: templates of a job go in, and each
 * row's values, and a record's arguments come out.
 */
@NullMarked
package io.pipeset.record.mapping;

import org.jspecify.annotations.NullMarked;
