package io.pipeset.web.warm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;

import javax.net.SocketFactory;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatIOException;

/** Callers for the warm-up. */
class WarmUpCallersTests {

	@Test
	void answersThatTakeTooLongEndAllCallsAndAreNamed() throws Exception {
		try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
			WarmUpCallers callers = new WarmUpCallers((InetSocketAddress) silent.getLocalSocketAddress(),
					SocketFactory.getDefault(), Duration.ofMillis(50));
			assertThatIOException().isThrownBy(() -> callers.call(List.of(new byte[10]), Duration.ofMillis(50)))
				.withMessage("The last answers took longer than 50 ms");
			assertThatIOException().isThrownBy(() -> callers.callOnce(new byte[10])).withMessageContaining("closed");
		}
	}

}
