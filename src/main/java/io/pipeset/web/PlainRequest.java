package io.pipeset.web;

import jakarta.servlet.http.HttpServletRequest;

/** The check of requests for calls that have no settings and read no body. */
public final class PlainRequest {

	private PlainRequest() {
	}

	/**
	 * Refuses settings, a body and an {@code Idempotency-Key}.
	 * @throws org.springframework.web.ErrorResponseException if the request has any
	 */
	public static void require(HttpServletRequest request) {
		Uploads.refuseBodyAndKey(request);
		SettingsReader.refuseAll(Query.of(request));
	}

}
