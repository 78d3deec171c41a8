package io.pipeset.request;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Whether the service may generate records. This is for development: in production, a
 * caller's mistake could fill Redis with them.
 *
 * @param enabled whether shortcut requests without records generate them. The image
 * enables it only with {@code pipeset.security.anonymous}
 */
@ConfigurationProperties("pipeset.generated")
public record GeneratedProperties(@DefaultValue("true") boolean enabled) {

}
