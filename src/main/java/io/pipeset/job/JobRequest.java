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

	/**
	 * Does what another instance has asked for. Nothing happens if the job is not there,
	 * or a newer instance asks for something that this one does not know.
	 * @return {@code false} if the job is not there
	 */
	static boolean serve(String request, JobRegistry registry) {
		String[] words = request.split(" ", -1);
		KnownJob job = registry.find(words[1]).orElse(null);
		if (job != null && words[0].equals(CANCEL)) {
			registry.cancel(job);
		}
		else if (job != null && words[0].equals(PACE)) {
			long perSecond = Long.parseLong(words[2]);
			job.pace((perSecond > 0) ? perSecond : null);
		}
		return job != null;
	}

	/** The name of that which is asked for. */
	static String name(String request) {
		return request.split(" ", -1)[0];
	}

	/** The job that a request is for. */
	static String job(String request) {
		return request.split(" ", -1)[1];
	}

}
