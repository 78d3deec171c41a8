/**
 * The bodies that the service fetches itself: the resource of a URL, and the rows of a
 * query.
 */
@NullMarked
package io.pipeset.input.source;

import org.jspecify.annotations.NullMarked;
