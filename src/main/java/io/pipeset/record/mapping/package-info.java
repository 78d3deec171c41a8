/** Builds records from the rows and objects of a body by the templates of a job. */
@NullMarked
package io.pipeset.record.mapping;

import org.jspecify.annotations.NullMarked;
