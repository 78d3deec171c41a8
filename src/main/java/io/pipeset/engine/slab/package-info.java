/**
 * Commands that go to Redis in one write, and what becomes of each: records come in, RESP
 * goes out, replies come in, and outcomes go into the report. It knows neither the
 * connection nor its driver.
 */
@NullMarked
package io.pipeset.engine.slab;

import org.jspecify.annotations.NullMarked;
