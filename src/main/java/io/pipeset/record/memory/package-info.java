/**
 * The memory that a caller's data may take. Code that grows an array with such data asks
 * a room for the bytes first, and gets them, has to wait, or hears that there are none.
 */
@NullMarked
package io.pipeset.record.memory;

import org.jspecify.annotations.NullMarked;
