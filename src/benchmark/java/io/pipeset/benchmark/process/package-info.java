/**
 * The processes that take part in a run, and their costs by the operating system's
 * account.
 */
@NullMarked
package io.pipeset.benchmark.process;

import org.jspecify.annotations.NullMarked;
