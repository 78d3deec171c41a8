/**
 * The Redis that starts by itself in development, so that the service works on a machine
 * that has Java and Maven and nothing else.
 */
@NullMarked
package io.pipeset.dev;

import org.jspecify.annotations.NullMarked;
