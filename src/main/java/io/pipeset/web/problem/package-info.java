/**
 * Problem details: a mistake or a failure comes in, and the answer that explains it goes
 * out.
 */
@NullMarked
package io.pipeset.web.problem;

import org.jspecify.annotations.NullMarked;
