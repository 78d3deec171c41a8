/**
 * Limits the memory of a caller's data. Code reserves bytes before it grows an array with
 * such data. It gets them, has to wait, or is refused.
 */
@NullMarked
package io.pipeset.record.memory;

import org.jspecify.annotations.NullMarked;
