/**
 * HTTP in and out: the calls, their settings, and problem details for everything that
 * goes wrong.
 */
@NullMarked
package io.pipeset.web;

import org.jspecify.annotations.NullMarked;
