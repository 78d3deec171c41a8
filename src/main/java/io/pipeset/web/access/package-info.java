/**
 * Who may call the service while callers have no credentials: a request comes in, and
 * either passes or is refused; nor does a server start that strangers could reach.
 */
@NullMarked
package io.pipeset.web.access;

import org.jspecify.annotations.NullMarked;
