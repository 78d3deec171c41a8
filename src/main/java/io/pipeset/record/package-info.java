/**
 * A record and its parts: the table of operations with their options, the arguments and
 * times to live, and the records that are generated. Formats and generators put arguments
 * in, and the command to send comes out, or the reason why it is refused. No Spring, no
 * Redis.
 */
@NullMarked
package io.pipeset.record;

import org.jspecify.annotations.NullMarked;
