package io.pipeset.benchmark.data;

/** How records are written down. */
public enum Form {

	/** The commands themselves, for redis-cli. */
	RESP("application/x-redis-resp"),

	/** A JSON object a line. */
	NDJSON("application/x-ndjson"),

	/** A JSON array of objects. */
	JSON("application/json");

	private final String mediaType;

	Form(String mediaType) {
		this.mediaType = mediaType;
	}

	public String mediaType() {
		return this.mediaType;
	}

}
