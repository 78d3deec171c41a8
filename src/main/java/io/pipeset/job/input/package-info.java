/**
 * The inputs of jobs: records that the service makes itself, or bytes that a caller
 * uploads. Bytes are inflated here, and records that have been read go on their way
 * before the reading thread waits for more.
 */
@NullMarked
package io.pipeset.job.input;

import org.jspecify.annotations.NullMarked;
