/**
 * The description of the service for callers: the start page and the OpenAPI document,
 * both made from the table of calls.
 */
@NullMarked
package io.pipeset.web.document;

import org.jspecify.annotations.NullMarked;
