package io.pipeset.record;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * What a job's records have unless they say otherwise.
 *
 * @param ttl the seconds after which what SET and HSET write expires, 1 to
 * {@link Expiry#MAX_SECONDS}; {@code null} for never
 * @param encoding how their strings stand for bytes
 */
public record RecordDefaults(@Nullable Long ttl, Encoding encoding) {

	/** Nothing expires, and strings are UTF-8. */
	public static final RecordDefaults NONE = new RecordDefaults(null, Encoding.UTF8);

	/** The ttl as an argument; empty for none. */
	byte[] ttlArgument() {
		return (this.ttl != null) ? this.ttl.toString().getBytes(StandardCharsets.US_ASCII) : new byte[0];
	}

}
