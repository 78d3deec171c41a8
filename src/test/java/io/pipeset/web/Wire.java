package io.pipeset.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A connection to the service on which a test writes the bytes of a request itself. */
final class Wire implements AutoCloseable {

	private static final int TIMEOUT_MILLIS = 30_000;

	private final Socket socket;

	private Wire(Socket socket) {
		this.socket = socket;
	}

	/** Connects and sends the head of a request that is to be the connection's last. */
	static Wire post(Service service, String pathAndQuery, String... headers) throws IOException {
		Socket socket = new Socket(InetAddress.getLoopbackAddress(), service.port());
		socket.setSoTimeout(TIMEOUT_MILLIS);
		socket.setTcpNoDelay(true);
		Wire wire = new Wire(socket);
		List<String> lines = new ArrayList<>(List.of("POST " + pathAndQuery + " HTTP/1.1",
				"Host: 127.0.0.1:" + service.port(), "Connection: close"));
		lines.addAll(List.of(headers));
		return wire.send(String.join("\r\n", lines) + "\r\n\r\n");
	}

	/** Begins a chunked upload of lines. */
	static Wire upload(Service service, String pathAndQuery) throws IOException {
		return post(service, pathAndQuery, "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked");
	}

	Wire send(String text) throws IOException {
		this.socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
		return this;
	}

	Wire chunk(String text) throws IOException {
		int length = text.getBytes(StandardCharsets.UTF_8).length;
		return send(Integer.toHexString(length) + "\r\n" + text + "\r\n");
	}

	Wire lastChunk() throws IOException {
		return send("0\r\n\r\n");
	}

	/** Reads one line of what comes before the answer. */
	String line() throws IOException {
		StringBuilder line = new StringBuilder();
		int next = this.socket.getInputStream().read();
		while (next >= 0 && next != '\n') {
			line.append((char) next);
			next = this.socket.getInputStream().read();
		}
		return line.toString().replace("\r", "");
	}

	/** Reads until the service closes the connection. */
	Answer answer() throws IOException {
		String all = new String(this.socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
		int headEnd = all.indexOf("\r\n\r\n");
		if (headEnd < 0) {
			throw new IOException("No answer but '" + all + "'");
		}
		String[] head = all.substring(0, headEnd).split("\r\n", -1);
		Map<String, List<String>> headers = new LinkedHashMap<>();
		for (int i = 1; i < head.length; i++) {
			String[] header = head[i].split(":", 2);
			headers.computeIfAbsent(header[0].toLowerCase(Locale.ROOT), (name) -> new ArrayList<>())
				.add(header[1].strip());
		}
		String body = all.substring(headEnd + 4);
		if (headers.containsKey("transfer-encoding")) {
			body = unchunked(body);
		}
		return new Answer(Integer.parseInt(head[0].substring(9, 12)), HttpHeaders.of(headers, (name, value) -> true),
				new String(body.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

	private static String unchunked(String body) throws IOException {
		ByteArrayOutputStream whole = new ByteArrayOutputStream();
		int at = 0;
		while (true) {
			int lineEnd = body.indexOf("\r\n", at);
			int length = Integer.parseInt(body.substring(at, lineEnd), 16);
			if (length == 0) {
				return whole.toString(StandardCharsets.ISO_8859_1);
			}
			whole.write(body.substring(lineEnd + 2, lineEnd + 2 + length).getBytes(StandardCharsets.ISO_8859_1));
			at = lineEnd + 2 + length + 2;
		}
	}

}
