package io.pipeset.service;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A connection to the service on which a test writes the bytes of a request itself. */
public final class Wire implements AutoCloseable {

	private static final int TIMEOUT_MILLIS = 30_000;

	private static final Pattern CONTENT_LENGTH = Pattern.compile("\r\ncontent-length: *(\\d+)",
			Pattern.CASE_INSENSITIVE);

	private final Socket socket;

	private Wire(Socket socket) {
		this.socket = socket;
	}

	/**
	 * Connects and sends the head of a request, after which the connection is to be
	 * closed.
	 */
	public static Wire post(Service service, String pathAndQuery, String... headers) throws IOException {
		List<String> lines = new ArrayList<>(List.of("POST " + pathAndQuery + " HTTP/1.1",
				"Host: 127.0.0.1:" + service.port(), "Connection: close"));
		lines.addAll(List.of(headers));
		return open(service, lines.toArray(String[]::new));
	}

	/**
	 * Begins a chunked upload with its head and the first bytes of its body in one write,
	 * between which no early answer can end the connection.
	 */
	public static Wire begun(Service service, String pathAndQuery, String body) throws IOException {
		return begun(service, pathAndQuery, "Transfer-Encoding: chunked", body);
	}

	/** Begins an upload in the same way, with headers that say how its body comes. */
	public static Wire begun(Service service, String pathAndQuery, String headers, String body) throws IOException {
		Wire wire = new Wire(new Socket(InetAddress.getLoopbackAddress(), service.port()));
		wire.socket.setSoTimeout(TIMEOUT_MILLIS);
		return wire.send(String.join("\r\n", "POST " + pathAndQuery + " HTTP/1.1", "Host: 127.0.0.1:" + service.port(),
				"Connection: close", "Content-Type: application/x-ndjson", headers, "", body));
	}

	/** Connects and sends the lines of a request's head. */
	public static Wire open(Service service, String... lines) throws IOException {
		return new Wire(new Socket(InetAddress.getLoopbackAddress(), service.port())).open(lines);
	}

	private Wire open(String... lines) throws IOException {
		this.socket.setSoTimeout(TIMEOUT_MILLIS);
		this.socket.setTcpNoDelay(true);
		return send(String.join("\r\n", lines) + "\r\n\r\n");
	}

	/**
	 * Connects and sends the lines of a request's head. Hardly anything of an answer fits
	 * into the connection, so that it is noticed where nobody reads.
	 */
	public static Wire unread(Service service, String... lines) throws IOException {
		Socket socket = new Socket();
		socket.setReceiveBufferSize(1024);
		socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), service.port()));
		return new Wire(socket).open(lines);
	}

	/** Begins a chunked upload of lines. */
	public static Wire upload(Service service, String pathAndQuery) throws IOException {
		return post(service, pathAndQuery, "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked");
	}

	public Wire send(String text) throws IOException {
		this.socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
		return this;
	}

	public Wire chunk(String text) throws IOException {
		return chunk(text.getBytes(StandardCharsets.UTF_8));
	}

	public Wire chunk(byte[] bytes) throws IOException {
		send(Integer.toHexString(bytes.length) + "\r\n");
		this.socket.getOutputStream().write(bytes);
		return send("\r\n");
	}

	public Wire lastChunk() throws IOException {
		return send("0\r\n\r\n");
	}

	/** Reads one line that comes before the answer. */
	public String line() throws IOException {
		StringBuilder line = new StringBuilder();
		int next = this.socket.getInputStream().read();
		while (next >= 0 && next != '\n') {
			line.append((char) next);
			next = this.socket.getInputStream().read();
		}
		return line.toString().replace("\r", "");
	}

	/** Reads one line, if its first byte comes in time. */
	public String line(int timeoutMillis) throws IOException {
		this.socket.setSoTimeout(timeoutMillis);
		try {
			return line();
		}
		finally {
			this.socket.setSoTimeout(TIMEOUT_MILLIS);
		}
	}

	/** Reads an answer, which may come before the request is sent to its end. */
	public Answer answer() throws IOException {
		String all = read();
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

	/** Ends what this side sends, and still reads. */
	public void endOutput() throws IOException {
		this.socket.shutdownOutput();
	}

	/** Ends the connection as a process does that is killed with an answer unread. */
	public void reset() throws IOException {
		this.socket.setSoLinger(true, 0);
		this.socket.close();
	}

	/** Whether the service has cut the connection, with bytes that were not read. */
	public boolean wasReset() {
		try {
			send("x");
			send("x");
			return false;
		}
		catch (IOException ex) {
			return true;
		}
	}

	/** Reads a number of bytes, if they come. */
	public void tryRead(int bytes) {
		try {
			this.socket.getInputStream().readNBytes(bytes);
		}
		catch (IOException ex) {
			// The service has ended the connection.
		}
	}

	/** Waits until the service has ended the connection. */
	public void awaitEnd() throws IOException {
		try {
			// The bytes that still come do not matter.
			this.socket.getInputStream().transferTo(OutputStream.nullOutputStream());
		}
		catch (SocketTimeoutException ex) {
			throw ex;
		}
		catch (SocketException ex) {
			// The connection was reset, as the service did not read all that was sent.
		}
	}

	private String read() throws IOException {
		ByteArrayOutputStream all = new ByteArrayOutputStream();
		byte[] piece = new byte[8192];
		int bytes = 0;
		while (bytes >= 0 && !isComplete(all.toString(StandardCharsets.ISO_8859_1))) {
			bytes = this.socket.getInputStream().read(piece);
			all.write(piece, 0, Math.max(bytes, 0));
		}
		return all.toString(StandardCharsets.ISO_8859_1);
	}

	private static boolean isComplete(String answer) {
		Matcher length = CONTENT_LENGTH.matcher(answer);
		int headEnd = answer.indexOf("\r\n\r\n");
		return headEnd >= 0 && ((length.find() && length.end() <= headEnd)
				? answer.length() == headEnd + 4 + Integer.parseInt(length.group(1))
				: answer.endsWith("\r\n0\r\n\r\n"));
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
