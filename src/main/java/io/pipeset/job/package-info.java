/**
 * The life of one job: it waits for its turn, reads its input, has each record judged and
 * sent, and ends with a report. Settings and an input come in from the caller.
 */
@NullMarked
package io.pipeset.job;

import org.jspecify.annotations.NullMarked;
