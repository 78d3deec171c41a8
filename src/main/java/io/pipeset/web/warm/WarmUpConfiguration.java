package io.pipeset.web.warm;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Configuration;

/**
 * Knows the properties of the warm-up, also where there is no server to be warmed up.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(WarmUpProperties.class)
class WarmUpConfiguration {

}
