package io.pipeset.benchmark.data;

import java.util.Map;

/** The forms in which records are written. */
public enum Form {

	/** The commands themselves, for redis-cli. */
	RESP("application/x-redis-resp", ""),

	/** A JSON object a line. */
	NDJSON("application/x-ndjson", ""),

	/** The same, compressed as gzip does it by itself. */
	NDJSON_GZIP("application/x-ndjson", "gzip"),

	/** A JSON array of objects. */
	JSON("application/json", ""),

	/** Rows that name their operations. */
	CSV("text/csv", ""),

	/** A line for redis-cli. */
	TEXT("text/plain", "");

	private final String mediaType;

	private final String encoding;

	Form(String mediaType, String encoding) {
		this.mediaType = mediaType;
		this.encoding = encoding;
	}

	public String mediaType() {
		return this.mediaType;
	}

	public boolean isGzipped() {
		return !this.encoding.isEmpty();
	}

	/**
	 * The headers of a request with a body in this form.
	 * @return names and values
	 */
	public Map<String, String> headers() {
		return (isGzipped()) ? Map.of("Content-Type", this.mediaType, "Content-Encoding", this.encoding)
				: Map.of("Content-Type", this.mediaType);
	}

}
