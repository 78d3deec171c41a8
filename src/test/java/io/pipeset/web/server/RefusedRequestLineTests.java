package io.pipeset.web.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Request lines that Tomcat refuses, and invalid ones (RFC 3986) that it accepts.
 */
@ServiceTest
@Timeout(60)
class RefusedRequestLineTests {

	/** More than the buffers of a connection hold. */
	private static final int BODY_BYTES = 20 << 20;

	private final Service service;

	RefusedRequestLineTests(Service service) {
		this.service = service;
	}

	@Test
	void aClientCanReadTheRefusalAfterItsWholeUpload() throws IOException {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.service.port())) {
			OutputStream out = socket.getOutputStream();
			out.write(("POST /v1/jobs?op=SET&key={a b} HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + BODY_BYTES
					+ "\r\n\r\n")
				.getBytes(StandardCharsets.US_ASCII));
			byte[] piece = new byte[1 << 16];
			for (int sent = 0; sent < BODY_BYTES; sent += piece.length) {
				out.write(piece);
			}
			assertThat(answer(socket)).startsWith("HTTP/1.1 400").contains("bad-request").contains("percent-encoded");
		}
	}

	@Test
	void bracesAndBarsThatCurlDoesNotEncodeAreAccepted() throws IOException {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.service.port())) {
			socket.getOutputStream()
				.write(("POST /v1/jobs?op=SET&key={a}&value={b}|\"x\"&args=[&args=EX&args={s}&args=]&dryRun=true"
						+ " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n"
						+ "Content-Length: 15\r\n\r\n{\"a\":\"1\",\"b\":2}")
					.getBytes(StandardCharsets.US_ASCII));
			assertThat(answer(socket)).startsWith("HTTP/1.1 200").contains("\"received\":1").contains("\"rejected\":0");
		}
	}

	private static String answer(Socket socket) throws IOException {
		try (InputStream in = socket.getInputStream()) {
			return new String(in.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

}
