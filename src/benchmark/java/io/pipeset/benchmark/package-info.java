/** Measures how fast the packaged service is, beside the means that users have today. */
@NullMarked
package io.pipeset.benchmark;

import org.jspecify.annotations.NullMarked;
