/**
 * Access to the service: each request is refused, or belongs to a client. The service
 * does not start if unknown callers on other machines could reach it.
 */
@NullMarked
package io.pipeset.web.access;

import org.jspecify.annotations.NullMarked;
