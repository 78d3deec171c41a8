/** Sends the reports of ended jobs to the URLs that their callers have given. */
@NullMarked
package io.pipeset.job.callback;

import org.jspecify.annotations.NullMarked;
