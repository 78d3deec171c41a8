package io.pipeset.web;

import java.util.regex.Pattern;

/** Checks the ids of jobs, and makes the paths of jobs. */
final class JobIds {

	/** Any UUID of version 7, as a regular expression of JSON Schema. */
	static final String PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";

	private static final Pattern COMPILED = Pattern.compile(PATTERN);

	private JobIds() {
	}

	/** Whether a text has the form of an id; there may be no such job. */
	static boolean matches(String text) {
		return COMPILED.matcher(text).matches();
	}

	/** The path of a job, for the header {@code Location}. */
	static String location(String id) {
		return "/v1/jobs/" + id;
	}

}
