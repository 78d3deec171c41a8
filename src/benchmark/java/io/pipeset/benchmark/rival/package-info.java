/** The code that a Spring user writes before reading further. */
@NullMarked
package io.pipeset.benchmark.rival;

import org.jspecify.annotations.NullMarked;
