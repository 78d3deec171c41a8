/**
 * The bytes of a body on their way to a format's parser: the buffer that holds a piece of
 * the body, lines and the spans noted down in them, and the limits of a record. Bytes go
 * in, and lines come out, or the place where a body went wrong.
 */
@NullMarked
package io.pipeset.record.body;

import org.jspecify.annotations.NullMarked;
