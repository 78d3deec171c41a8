package io.pipeset.engine.pipeline;

import io.pipeset.engine.pipeline.call.ServerVersion;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The reply to INFO determines which SETs are coalesced. */
class MeasuredServerTests {

	@ParameterizedTest
	@CsvSource({ "'redis_version:7.0.15', true, false", "'redis_version:8.0.6', true, false",
			"'redis_version:8.2.0', true, false", "'redis_version:8.4.0', false, false",
			"'redis_version:8.6.3', false, false", "'redis_version:10.0.0', false, false",
			"'redis_version:255.255.255', false, false", "'redis_version:6.2.7-v1', true, false",
			"'redis_version:7.2.4/server_name:valkey/valkey_version:8.1.1', true, false",
			"'redis_version:7.2.4/server_name:valkey/valkey_version:9.0.0', true, false",
			"'redis_version:7.2.4/server_name:valkey/valkey_version:9.1.2', true, true",
			"'redis_version:8.6.3/valkey_version:10.0.0', true, true", "'run_id:1', true, false",
			"'redis_version:new', true, false" })
	void gainsAsMeasured(String info, boolean mset, boolean msetex) {
		MeasuredServer server = MeasuredServer
			.of(ServerVersion.of("# Server\r\n" + info.replace("/", "\r\n") + "\r\nos:Linux\r\n"));
		assertThat(server.gainsByMset()).isEqualTo(mset);
		assertThat(server.gainsByMsetex()).isEqualTo(msetex);
	}

}
