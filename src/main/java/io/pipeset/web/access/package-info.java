/**
 * The callers that the service answers: a request comes in, and is refused, or passes as
 * that of a client. A server that strangers could reach does not start.
 */
@NullMarked
package io.pipeset.web.access;

import org.jspecify.annotations.NullMarked;
