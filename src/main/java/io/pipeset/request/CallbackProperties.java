package io.pipeset.request;

import java.util.List;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where the service may post the reports of ended jobs. {@link Callbacks} checks the
 * values, because a binding error would quote the secret.
 *
 * @param allowed prefixes of the URLs, such as https://hooks.example/pipeset/. Without
 * any, jobs have no callbacks
 * @param secret whsec_ and the base64 of 24 to 64 bytes, which sign each callback; two
 * while a secret is replaced
 */
@ConfigurationProperties("pipeset.callbacks")
record CallbackProperties(@DefaultValue List<String> allowed, @DefaultValue List<String> secret) {

}
