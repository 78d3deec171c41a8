/**
 * The warm-up: before the service is ready, it calls itself for a few seconds, so that
 * the first callers find compiled code and open connections.
 */
@NullMarked
package io.pipeset.web.warm;

import org.jspecify.annotations.NullMarked;
