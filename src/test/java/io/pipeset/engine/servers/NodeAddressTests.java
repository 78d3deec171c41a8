package io.pipeset.engine.servers;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A redirection leads to its node in each notation of the address. */
class NodeAddressTests {

	@ParameterizedTest
	@CsvSource({ "10.0.0.1:6379, 10.0.0.1:6379, true", "10.0.0.1:6379, 10.0.0.1:6380, false",
			"10.0.0.1:6379, 10.0.0.2:6379, false", "[::1]:6379, ::1:6379, true", "::1:6379, 0:0:0:0:0:0:0:1:6379, true",
			"[fd00::2]:6379, fd00::1:6379, false", "localhost:6379, 127.0.0.1:6379, true",
			"localhost:6379, LOCALHOST:6379, true", "localhost:6379, 10.0.0.1:6379, false",
			"127.0.0.1:6379, localhost:6379, false", "10.0.0.1:6379, ?:6379, false", "10.0.0.1:6379, [:6379, false" })
	void aRedirectionIsComparedWithTheNameOfANode(String node, String target, boolean same) {
		assertThat(NodeAddress.of(node).isMeantBy(NodeAddress.of(target))).isEqualTo(same);
	}

}
