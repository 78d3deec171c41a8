/**
 * The start: an unknown or wrong property fails it, with a short message that explains
 * why, and jobs warm the service up before it is ready.
 */
@NullMarked
package io.pipeset.start;

import org.jspecify.annotations.NullMarked;
