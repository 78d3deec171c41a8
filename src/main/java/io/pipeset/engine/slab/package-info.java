/**
 * A slab is a group of commands that goes to Redis in one write. This package turns
 * records into RESP, replies into outcomes, and outcomes into report entries. It knows
 * neither the connection nor the driver.
 */
@NullMarked
package io.pipeset.engine.slab;

import org.jspecify.annotations.NullMarked;
