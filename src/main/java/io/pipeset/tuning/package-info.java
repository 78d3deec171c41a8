/**
 * Tunings: a grid of settings comes in, each of its rows is run against Redis with
 * records of the service's own, and figures for each row and a recommendation go out.
 */
@NullMarked
package io.pipeset.tuning;

import org.jspecify.annotations.NullMarked;
