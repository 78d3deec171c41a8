package io.pipeset.request;

import org.jspecify.annotations.Nullable;

/** Finds the clients of the service by their names. */
@FunctionalInterface
public interface Clients {

	/**
	 * Finds a client.
	 * @return the client, or {@code null} if the service is not configured for it
	 */
	@Nullable Client find(String name);

}
