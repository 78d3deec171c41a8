/** The processes that take part in a run, and what the operating system knows of them. */
@NullMarked
package io.pipeset.benchmark.process;

import org.jspecify.annotations.NullMarked;
