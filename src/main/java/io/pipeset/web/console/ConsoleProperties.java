package io.pipeset.web.console;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of the console.
 *
 * @param enabled whether the service serves the pages of the console
 */
@ConfigurationProperties("pipeset.console")
public record ConsoleProperties(@DefaultValue("true") boolean enabled) {

}
