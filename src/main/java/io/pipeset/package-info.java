/**
 * The application that loads Redis in bulk through Lettuce pipelines.
 */
@NullMarked
package io.pipeset;

import org.jspecify.annotations.NullMarked;
