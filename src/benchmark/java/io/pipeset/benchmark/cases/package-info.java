/** The cases that are measured. */
@NullMarked
package io.pipeset.benchmark.cases;

import org.jspecify.annotations.NullMarked;
