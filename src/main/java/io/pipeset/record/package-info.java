/**
 * A record and its parts: the table of operations with their options, arguments, times to
 * live, and generated records. Formats and generators fill a record. The result is the
 * command to send, or the reason why the record is refused. This package uses neither
 * Spring nor a Redis client.
 */
@NullMarked
package io.pipeset.record;

import org.jspecify.annotations.NullMarked;
