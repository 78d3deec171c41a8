/**
 * What a job is: the client whose it is, its limits and pace, and the draft of its
 * report. Packages in it have its settings and input, its run, its files, and where it is
 * found.
 */
@NullMarked
package io.pipeset.job;

import org.jspecify.annotations.NullMarked;
