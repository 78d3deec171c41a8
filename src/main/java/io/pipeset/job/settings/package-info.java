/**
 * The settings of a job: parses and checks the operator's defaults and the query of a
 * call.
 */
@NullMarked
package io.pipeset.job.settings;

import org.jspecify.annotations.NullMarked;
