/**
 * The web server, and all that knows Tomcat: connections, threads, bodies and answers
 * come and go within bounds, also while the service shuts down.
 */
@NullMarked
package io.pipeset.web.server;

import org.jspecify.annotations.NullMarked;
