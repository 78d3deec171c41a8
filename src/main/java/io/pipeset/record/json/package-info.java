/**
 * Reads records from JSON and NDJSON: from objects, and from arrays that are commands.
 * The parser works in place, and creates no object per record.
 */
@NullMarked
package io.pipeset.record.json;

import org.jspecify.annotations.NullMarked;
