/**
 * Commands as Redis reads them: RESP, and text as one types it into redis-cli. Bytes go
 * in, and records come out.
 */
@NullMarked
package io.pipeset.record.resp;

import org.jspecify.annotations.NullMarked;
