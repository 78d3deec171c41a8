/** One run of one contender, and many of them interleaved. */
@NullMarked
package io.pipeset.benchmark.measure;

import org.jspecify.annotations.NullMarked;
