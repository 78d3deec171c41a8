package io.pipeset.web;

import io.pipeset.job.Client;

import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

/** The clients whose requests are under way. */
final class Callers {

	private Callers() {
	}

	/**
	 * The client whose request this thread serves, as Spring Security has authenticated
	 * it.
	 * @throws IllegalStateException if there is none, by a defect
	 */
	static Client current() {
		Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
		if (authentication != null && authentication.getPrincipal() instanceof Client client) {
			return client;
		}
		throw new IllegalStateException("The request has no client");
	}

}
