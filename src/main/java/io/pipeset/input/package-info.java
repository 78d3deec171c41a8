/**
 * Where the records of jobs come from: generated and popped records, the keys that SCAN
 * finds, and bodies, which are inflated and decoded here. Before the reading thread waits
 * for more bytes, the records read so far are handed to the lanes.
 */
@NullMarked
package io.pipeset.input;

import org.jspecify.annotations.NullMarked;
