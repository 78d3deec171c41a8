package io.pipeset.web.server;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The defaults for connections and their buffers depend on the size of the heap. */
class HttpServerConfigurationTests {

	@ParameterizedTest
	@CsvSource({ "64, false, 256", "256, false, 455", "256, true, 256", "1023, true, 1023", "1024, true, 585",
			"1024, false, 780", "16384, false, 8192" })
	void theNumberOfConnectionsDependsOnTheHeap(long heapMegabytes, boolean tls, int connections) {
		assertThat(HttpServerConfiguration.connections(heapMegabytes << 20, tls)).isEqualTo(connections);
	}

	@Test
	void aLargeHeapHasLargeReadBuffers() {
		assertThat(HttpServerConfiguration.readBufferBytes((1L << 30) - 1)).isEqualTo(16384);
		assertThat(HttpServerConfiguration.readBufferBytes(1L << 30)).isEqualTo(65536);
	}

}
