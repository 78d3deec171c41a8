/**
 * What may be asked of the service: the settings of jobs, its clients with their rights
 * and limits, and the limits on all jobs.
 */
@NullMarked
package io.pipeset.request;

import org.jspecify.annotations.NullMarked;
