/**
 * Represents callers' bytes as strings: the encodings of bodies and reports, and excerpts
 * for messages.
 */
@NullMarked
package io.pipeset.record.encoding;

import org.jspecify.annotations.NullMarked;
