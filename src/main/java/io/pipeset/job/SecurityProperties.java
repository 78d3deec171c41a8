package io.pipeset.job;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What callers may do.
 *
 * @param scripts whether they may load and run scripts, which can do to any key what the
 * service's Redis user may
 */
@ConfigurationProperties("pipeset.security")
public record SecurityProperties(@DefaultValue("false") boolean scripts) {

}
