/**
 * Problem details: the answers that explain mistakes of callers and failures.
 */
@NullMarked
package io.pipeset.web.problem;

import org.jspecify.annotations.NullMarked;
