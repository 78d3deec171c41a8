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

	/** The wait is over long before the calls are, however late their threads begin. */
	@Test
	void answersThatTakeTooLongEndAllCallsAndAreNamed() throws Exception {
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
