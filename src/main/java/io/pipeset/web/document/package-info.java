/**
 * The service's word on itself: the table of calls comes in, and the start page and the
 * OpenAPI document go out.
 */
@NullMarked
package io.pipeset.web.document;

import org.jspecify.annotations.NullMarked;
