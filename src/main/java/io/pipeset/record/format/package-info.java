/**
 * The formats of uploads: a media type goes in, and the reader of a body's records comes
 * out. No other package knows which formats there are.
 */
@NullMarked
package io.pipeset.record.format;

import org.jspecify.annotations.NullMarked;
