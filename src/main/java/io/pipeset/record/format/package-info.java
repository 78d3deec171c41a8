/**
 * Opens the record reader for an upload's media type. No other package knows which
 * formats there are.
 */
@NullMarked
package io.pipeset.record.format;

import org.jspecify.annotations.NullMarked;
