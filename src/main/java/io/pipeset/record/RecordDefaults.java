package io.pipeset.record;

import java.nio.charset.StandardCharsets;

import io.pipeset.record.encoding.Encoding;
import org.jspecify.annotations.Nullable;

/**
 * A job's settings for records that have none of their own.
 *
 * @param ttl the seconds after which a key that SET or HSET wrote expires, 1 to
 * {@link Expiry#MAX_SECONDS}; {@code null} for never
 * @param encoding the encoding of their strings
 */
public record RecordDefaults(@Nullable Long ttl, Encoding encoding) {

	/** Nothing expires, and strings are UTF-8. */
	public static final RecordDefaults NONE = new RecordDefaults(null, Encoding.UTF8);

	/** The ttl as an argument; empty for none. */
	byte[] ttlArgument() {
		return (this.ttl != null) ? this.ttl.toString().getBytes(StandardCharsets.US_ASCII) : new byte[0];
	}

}
