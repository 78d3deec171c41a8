/**
 * The settings for Redis that the service refuses: Boot's settings come in, and a start
 * that would not do what they say ends with a remedy.
 */
@NullMarked
package io.pipeset.pipeline.settings;

import org.jspecify.annotations.NullMarked;
