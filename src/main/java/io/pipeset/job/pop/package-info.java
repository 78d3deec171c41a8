/**
 * Popping values without losing one: the receipts of reliable pops. They are kept in
 * Redis under {@code pipeset:}, so that every instance of the service finds them, and a
 * restart forgets nothing.
 */
@NullMarked
package io.pipeset.job.pop;

import org.jspecify.annotations.NullMarked;
