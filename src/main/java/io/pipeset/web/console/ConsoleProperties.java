package io.pipeset.web.console;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of the console.
 *
 * @param enabled whether its pages are served
 */
@ConfigurationProperties("pipeset.console")
public record ConsoleProperties(@DefaultValue("true") boolean enabled) {

}
