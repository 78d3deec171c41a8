package io.pipeset.web;

import jakarta.servlet.http.HttpServletRequest;

/** A request of a call that has no settings and reads no body. */
public final class PlainRequest {

	private PlainRequest() {
	}

	/**
	 * Refuses settings and a body.
	 * @throws org.springframework.web.ErrorResponseException if the request has any
	 */
	public static void require(HttpServletRequest request) {
		Uploads.refuse(request);
		SettingsReader.refuseAll(Query.of(request));
	}

}
