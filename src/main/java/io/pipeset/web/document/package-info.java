/**
 * The description of the service for callers: the start page, made from the table of
 * calls, and the OpenAPI document, a file that a test makes from the same table.
 */
@NullMarked
package io.pipeset.web.document;

import org.jspecify.annotations.NullMarked;
