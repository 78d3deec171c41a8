/**
 * JSON and NDJSON: a body's bytes go in, and records come out, from objects and from
 * arrays that are commands. The parser works in place and makes no object for a record.
 */
@NullMarked
package io.pipeset.record.json;

import org.jspecify.annotations.NullMarked;
