/**
 * Where the tests' Redis comes from, decided in one place; always a real one.
 */
@NullMarked
package io.pipeset.redis;

import org.jspecify.annotations.NullMarked;
