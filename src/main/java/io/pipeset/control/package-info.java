/**
 * What outlives a request, kept in Redis under {@code pipeset:}, so that every instance
 * of the service finds it, and a restart forgets nothing.
 */
@NullMarked
package io.pipeset.control;

import org.jspecify.annotations.NullMarked;
