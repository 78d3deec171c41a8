/** How fast the packaged service is, side by side with what users have today. */
@NullMarked
package io.pipeset.benchmark;

import org.jspecify.annotations.NullMarked;
