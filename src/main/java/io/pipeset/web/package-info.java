/**
 * The calls of the HTTP interface. They read requests, run jobs, and answer with the
 * reports of the jobs.
 */
@NullMarked
package io.pipeset.web;

import org.jspecify.annotations.NullMarked;
