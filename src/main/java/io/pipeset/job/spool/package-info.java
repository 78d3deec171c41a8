/**
 * Files on disk for jobs that outlive their requests: bytes come in, within a limit, and
 * the file that holds them goes out.
 */
@NullMarked
package io.pipeset.job.spool;

import org.jspecify.annotations.NullMarked;
