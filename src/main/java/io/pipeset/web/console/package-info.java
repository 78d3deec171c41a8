/**
 * The console: the pages for people, which are files of the jar. A browser asks for them,
 * and they make the calls of the service.
 */
@NullMarked
package io.pipeset.web.console;

import org.jspecify.annotations.NullMarked;
