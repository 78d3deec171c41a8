/** The data that is sent: the same commands in every form. */
@NullMarked
package io.pipeset.benchmark.data;

import org.jspecify.annotations.NullMarked;
