/**
 * The web server, and all code that depends on Tomcat. It bounds connections, threads,
 * bodies and responses, also while the service shuts down.
 */
@NullMarked
package io.pipeset.web.server;

import org.jspecify.annotations.NullMarked;
