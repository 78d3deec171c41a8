package io.pipeset.web.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Idle connections neither fill the heap nor keep callers out. */
class ConnectionTests {

	private static final int CONNECTIONS = 1000;

	/**
	 * The number of uploads. It exceeds the number of connections that are closed at
	 * once, so that uploads must not be taken for idle connections.
	 */
	private static final int UPLOADS = 40;

	@Test
	void moreIdleConnectionsThanTheHeapHoldsKeepNobodyOut() throws Exception {
		List<Wire> uploads = new ArrayList<>();
		List<Socket> idle = new ArrayList<>();
		TestRedis.shared().client().flushall();
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared(), "-Xmx64m",
				"-XX:+ExitOnOutOfMemoryError")) {
			for (int i = 0; i < UPLOADS; i++) {
				uploads.add(Wire
					.post(process.service(), "/v1/jobs", "Content-Type: application/x-ndjson", "Content-Length: 15")
					.send("[\"SET\",\"u\",\"1\""));
			}
			for (int i = 0; i < CONNECTIONS; i++) {
				idle.add(new Socket(InetAddress.getLoopbackAddress(), process.service().port()));
			}
			try (Wire job = Wire.upload(process.service(), "/v1/jobs")) {
				job.chunk("[\"SET\",\"a\",\"1\"]\n").lastChunk();
				assertThat(Answer.counts(job.answer().report())).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
			}
			for (Wire upload : uploads) {
				assertThat(upload.send("]").answer().status()).isEqualTo(200);
			}
			assertThat(process.isAlive()).isTrue();
			assertThat(idle.get(0).getInputStream().read()).as("the one that was idle longest").isEqualTo(-1);
		}
		finally {
			for (Socket socket : idle) {
				close(socket);
			}
			for (Wire upload : uploads) {
				upload.close();
			}
		}
	}

	private static void close(Socket socket) throws IOException {
		socket.setSoLinger(true, 0);
		socket.close();
	}

}
