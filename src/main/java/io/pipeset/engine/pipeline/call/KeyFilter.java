package io.pipeset.engine.pipeline.call;

import java.nio.charset.StandardCharsets;

import io.lettuce.core.KeyScanArgs;
import org.jspecify.annotations.Nullable;

/**
 * The keys that SCAN reports.
 *
 * @param match the glob-style pattern of their names
 * @param type their type, as the command TYPE names it; {@code null} for all
 */
public record KeyFilter(String match, @Nullable String type) {

	/** The arguments of a SCAN that looks at about so many keys. */
	KeyScanArgs arguments(int count) {
		KeyScanArgs arguments = new KeyScanArgs().match(this.match, StandardCharsets.UTF_8).limit(count);
		return (this.type != null) ? arguments.type(this.type) : arguments;
	}

}
