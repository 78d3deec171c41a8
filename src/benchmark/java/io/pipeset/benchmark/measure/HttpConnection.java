package io.pipeset.benchmark.measure;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Posts the same request again and again on one connection, as cheaply as a caller can.
 * If the server says that it closes the connection, as Tomcat does after a hundred
 * requests, the next post opens another one.
 */
final class HttpConnection implements AutoCloseable {

	private final URI uri;

	private final byte[] request;

	private Socket socket;

	private InputStream in;

	private boolean closing;

	private final byte[] body = new byte[1 << 16];

	HttpConnection(URI uri) throws IOException {
		this.uri = uri;
		String target = uri.getRawPath() + ((uri.getRawQuery() != null) ? "?" + uri.getRawQuery() : "");
		String text = "POST " + target + " HTTP/1.1\r\nHost: " + uri.getAuthority()
				+ "\r\nAccept: application/json\r\n\r\n";
		this.request = text.getBytes(StandardCharsets.US_ASCII);
		this.socket = connect();
		this.in = new BufferedInputStream(this.socket.getInputStream(), 1 << 14);
	}

	private Socket connect() throws IOException {
		Socket connected = new Socket(this.uri.getHost(), this.uri.getPort());
		connected.setTcpNoDelay(true);
		return connected;
	}

	/** Posts once, and returns the answer's body; anything but 200 is refused. */
	String post() throws IOException {
		if (this.closing) {
			this.socket.close();
			this.socket = connect();
			this.in = new BufferedInputStream(this.socket.getInputStream(), 1 << 14);
			this.closing = false;
		}
		this.socket.getOutputStream().write(this.request);
		String status = line();
		int length = -1;
		boolean chunked = false;
		for (String header = line(); !header.isEmpty(); header = line()) {
			String lower = header.toLowerCase(Locale.ROOT);
			if (lower.startsWith("content-length:")) {
				length = Integer.parseInt(lower.substring("content-length:".length()).strip());
			}
			this.closing |= lower.equals("connection: close");
			chunked |= lower.equals("transfer-encoding: chunked");
		}
		String answer = (chunked) ? chunks() : read(Math.max(0, length));
		if (!status.contains(" 200")) {
			throw new IOException(status + ": " + answer);
		}
		return answer;
	}

	private String chunks() throws IOException {
		StringBuilder answer = new StringBuilder();
		for (int length = chunkLength(); length > 0; length = chunkLength()) {
			answer.append(read(length));
			line();
		}
		line();
		return answer.toString();
	}

	private int chunkLength() throws IOException {
		return Integer.parseInt(line(), 16);
	}

	private String read(int length) throws IOException {
		byte[] target = (length <= this.body.length) ? this.body : new byte[length];
		if (this.in.readNBytes(target, 0, length) < length) {
			throw new IOException("The answer ended early");
		}
		return new String(target, 0, length, StandardCharsets.UTF_8);
	}

	private String line() throws IOException {
		int length = 0;
		for (int next = this.in.read(); next != '\n'; next = this.in.read()) {
			if (next < 0) {
				throw new IOException("The connection ended");
			}
			this.body[length++] = (byte) next;
		}
		return new String(this.body, 0, Math.max(0, length - 1), StandardCharsets.US_ASCII);
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
