package io.pipeset.job;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Whether the service makes records up, which is for development: in production a slip of
 * a caller would fill Redis with them.
 *
 * @param enabled whether calls whose requests have no records generate them; the image
 * does for anonymous callers only
 */
@ConfigurationProperties("pipeset.generated")
public record GeneratedProperties(@DefaultValue("true") boolean enabled) {

}
