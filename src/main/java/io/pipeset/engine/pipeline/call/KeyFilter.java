package io.pipeset.engine.pipeline.call;

import java.nio.charset.StandardCharsets;

import io.lettuce.core.KeyScanArgs;
import org.jspecify.annotations.Nullable;

/**
 * Restricts the keys that SCAN returns.
 *
 * @param match the glob-style pattern of the key names
 * @param type the key type as the command TYPE names it; {@code null} for all types
 */
public record KeyFilter(String match, @Nullable String type) {

	/** The arguments of a SCAN whose COUNT is {@code count}. */
	public KeyScanArgs arguments(int count) {
		KeyScanArgs arguments = new KeyScanArgs().match(this.match, StandardCharsets.UTF_8).limit(count);
		return (this.type != null) ? arguments.type(this.type) : arguments;
	}

}
