/**
 * The meeting of Spring Boot and Redis: Boot's settings for Redis come in, and the
 * {@link io.pipeset.engine.pipeline.RedisNode} that they name comes out, with its health
 * and a line in the log. Settings that the service would ignore end the start with a
 * remedy.
 */
@NullMarked
package io.pipeset.engine.pipeline.boot;

import org.jspecify.annotations.NullMarked;
