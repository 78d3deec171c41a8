/**
 * The callers that the service answers while they have no credentials: a request comes
 * in, and passes or is refused. A server that strangers could reach does not start.
 */
@NullMarked
package io.pipeset.web.access;

import org.jspecify.annotations.NullMarked;
