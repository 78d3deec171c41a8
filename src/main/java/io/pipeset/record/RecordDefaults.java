package io.pipeset.record;

import java.time.ZoneId;

import io.pipeset.record.encoding.Encoding;
import org.jspecify.annotations.Nullable;

/**
 * A job's defaults for records without settings of their own.
 *
 * @param ttl the seconds to live of a key that SET or HSET writes, 1 to
 * {@link Expiry#MAX_TTL}; {@code null} for no expiry
 * @param expireAt the time of expiry to use instead of {@code ttl}, in milliseconds since
 * 1970; {@code null} for none
 * @param zone the zone of timestamps without one; {@code null} if they are refused
 * @param ttlJitter the largest random change of each expiry, 0 to 50 percent
 */
public record RecordDefaults(@Nullable Long ttl, @Nullable Long expireAt, @Nullable ZoneId zone, int ttlJitter,
		Encoding encoding) {

	/** Nothing expires, and strings are UTF-8. */
	public static final RecordDefaults NONE = new RecordDefaults(null, null, null, 0, Encoding.UTF8);

}
