/**
 * The console: web pages for operators. They are files of the jar and use the calls of
 * the service.
 */
@NullMarked
package io.pipeset.web.console;

import org.jspecify.annotations.NullMarked;
