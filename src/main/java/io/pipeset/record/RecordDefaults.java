package io.pipeset.record;

import io.pipeset.record.encoding.Encoding;
import org.jspecify.annotations.Nullable;

/**
 * A job's settings for records that have none of their own.
 *
 * @param ttl the seconds after which a key that SET or HSET wrote expires, 1 to
 * {@link Expiry#MAX_TTL}; {@code null} for none
 * @param expireAt the moment at which it expires instead, in milliseconds since 1970;
 * {@code null} for none
 * @param ttlJitter the share by which each expiry is moved, 0 to 50 percent
 */
public record RecordDefaults(@Nullable Long ttl, @Nullable Long expireAt, int ttlJitter, Encoding encoding) {

	/** Nothing expires, and strings are UTF-8. */
	public static final RecordDefaults NONE = new RecordDefaults(null, null, 0, Encoding.UTF8);

}
