/**
 * Bytes of a request's body into records, and the table of operations; no Spring, no
 * Redis.
 */
@NullMarked
package io.pipeset.record;

import org.jspecify.annotations.NullMarked;
