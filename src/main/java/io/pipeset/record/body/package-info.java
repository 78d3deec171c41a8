/**
 * Splits a body into the lines and bytes that a format's parser reads: the buffer, line
 * readers, spans, and the limits of a record. It also reports the offset of a mistake in
 * a body.
 */
@NullMarked
package io.pipeset.record.body;

import org.jspecify.annotations.NullMarked;
