/**
 * The calls of the HTTP interface: a request with its query and its upload comes in, a
 * job runs, and its report goes out.
 */
@NullMarked
package io.pipeset.web;

import org.jspecify.annotations.NullMarked;
