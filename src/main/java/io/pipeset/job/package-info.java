/**
 * The life of one job: its settings, its lanes and their batches, and how it ends.
 */
@NullMarked
package io.pipeset.job;

import org.jspecify.annotations.NullMarked;
