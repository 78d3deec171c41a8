/**
 * Configures Redis from Spring Boot's settings: creates the
 * {@link io.pipeset.engine.pipeline.RedisNode} that the settings name, reports its
 * health, and logs it at the start. Settings that the service would ignore stop the start
 * with a remedy.
 */
@NullMarked
package io.pipeset.engine.pipeline.boot;

import org.jspecify.annotations.NullMarked;
