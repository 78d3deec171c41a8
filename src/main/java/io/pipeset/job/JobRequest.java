package io.pipeset.job;

/**
 * The words in which one instance asks another for something that concerns a job of that
 * one.
 */
public final class JobRequest {

	private static final String CANCEL = "cancel";

	private static final String PACE = "pace";

	private JobRequest() {
	}

	/** The request to cancel a job. */
	public static String cancel(String id) {
		return CANCEL + ' ' + id;
	}

	/**
	 * The request to change the pace of a job.
	 * @param perSecond records a second; 0 for no limit
	 */
	public static String pace(String id, long perSecond) {
		return PACE + ' ' + id + ' ' + perSecond;
	}

	/** The job that a request is for. */
	static String job(String request) {
		return words(request)[1];
	}

	/**
	 * Does what another instance has asked for, as soon as the job is there. Nothing
	 * happens if a newer instance asks for something that this one does not know.
	 */
	static void serve(String request, JobRegistry registry) {
		String[] words = words(request);
		if (words[0].equals(CANCEL)) {
			registry.whenThere(words[1], registry::cancel);
		}
		else if (words[0].equals(PACE)) {
			long perSecond = Long.parseLong(words[2]);
			registry.whenThere(words[1], (job) -> job.pace((perSecond > 0) ? perSecond : null));
		}
	}

	private static String[] words(String request) {
		return request.split(" ", -1);
	}

}
