/**
 * The Redis that is started automatically in development, so that the service needs only
 * Java and Maven.
 */
@NullMarked
package io.pipeset.dev;

import org.jspecify.annotations.NullMarked;
