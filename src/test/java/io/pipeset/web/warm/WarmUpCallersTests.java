package io.pipeset.web.warm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;

import javax.net.SocketFactory;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatIOException;

/** Tests of the callers of the warm-up. */
class WarmUpCallersTests {

	/** The wait ends long before the calls, even if their threads start late. */
	@Test
	void lateAnswersEndAllCalls() throws Exception {
		Duration time = Duration.ofMinutes(1);
		try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
			WarmUpCallers callers = new WarmUpCallers((InetSocketAddress) silent.getLocalSocketAddress(),
					SocketFactory.getDefault(), Duration.ofMillis(50).minus(time));
			assertThatIOException().isThrownBy(() -> callers.call(List.of(new byte[10]), time))
				.withMessage("The last answers took longer than -59950 ms");
			assertThatIOException().isThrownBy(() -> callers.callOnce(new byte[10])).withMessageContaining("closed");
		}
	}

}
