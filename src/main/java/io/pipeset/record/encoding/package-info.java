/**
 * The bytes of callers as strings. Bodies and reports hold bytes in an encoding, and
 * messages show an excerpt of them.
 */
@NullMarked
package io.pipeset.record.encoding;

import org.jspecify.annotations.NullMarked;
