package io.pipeset.web;

import java.util.regex.Pattern;

/** The ids of jobs in paths. */
final class JobIds {

	static final String PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";

	private static final Pattern FORM = Pattern.compile(PATTERN);

	private JobIds() {
	}

	/** Whether a text may be the id of a job. */
	static boolean matches(String text) {
		return FORM.matcher(text).matches();
	}

	/** The path of the job. */
	static String location(String id) {
		return "/v1/jobs/" + id;
	}

}
