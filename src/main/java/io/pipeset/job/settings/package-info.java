/**
 * The settings of a job: the operator's defaults and the query of a call come in, and
 * values within their bounds go out.
 */
@NullMarked
package io.pipeset.job.settings;

import org.jspecify.annotations.NullMarked;
