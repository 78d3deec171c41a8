package io.pipeset.web;

import io.pipeset.request.Client;

import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

/** Finds the client of a request. */
final class CurrentClient {

	private CurrentClient() {
	}

	/**
	 * The authenticated client of the request that this thread serves.
	 * @throws IllegalStateException if there is none, which is a defect of the service
	 */
	static Client get() {
		Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
		if (authentication != null && authentication.getPrincipal() instanceof Client client) {
			return client;
		}
		throw new IllegalStateException("The request has no client");
	}

}
