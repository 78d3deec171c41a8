/** Reads records from commands: RESP, and text lines as in redis-cli. */
@NullMarked
package io.pipeset.record.resp;

import org.jspecify.annotations.NullMarked;
