package io.pipeset.web.warm;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Locale;

import javax.net.SocketFactory;

/**
 * A connection over which the service calls itself. It parses only the HTTP that the
 * service itself sends, so that the caller's own code needs no warm-up.
 */
final class LoopbackConnection implements AutoCloseable {

	private static final String LENGTH = "content-length:";

	private static final String ERRORS = "pipeset-errors:";

	private static final int HEX = 16;

	/**
	 * If there is no response for this long, the service is busy, and gets warm anyway.
	 */
	private static final int TIMEOUT_MILLIS = 5000;

	private final Socket socket;

	private final InputStream input;

	LoopbackConnection(InetSocketAddress service, SocketFactory factory) throws IOException {
		this.socket = factory.createSocket();
		try {
			this.socket.setTcpNoDelay(true);
			this.socket.setSoTimeout(TIMEOUT_MILLIS);
			this.socket.connect(service, TIMEOUT_MILLIS);
			this.input = new BufferedInputStream(this.socket.getInputStream());
		}
		catch (IOException ex) {
			this.socket.close();
			throw ex;
		}
	}

	/**
	 * Sends a request, and reads the response.
	 * @param request the whole request
	 * @throws IOException if the connection breaks or times out
	 */
	Answer call(byte[] request) throws IOException {
		this.socket.getOutputStream().write(request);
		String line = readLine();
		int status = Integer.parseInt(line.split(" ", -1)[1]);
		int errors = 0;
		int length = -1;
		for (line = readLine(); !line.isEmpty(); line = readLine()) {
			String header = line.toLowerCase(Locale.ROOT);
			if (header.startsWith(LENGTH)) {
				length = Integer.parseInt(header.substring(LENGTH.length()).strip());
			}
			else if (header.startsWith(ERRORS)) {
				errors = Integer.parseInt(header.substring(ERRORS.length()).strip());
			}
		}
		if (length < 0) {
			skipChunks();
		}
		else {
			this.input.skipNBytes(length);
		}
		return new Answer(status, errors);
	}

	private void skipChunks() throws IOException {
		int length;
		do {
			length = Integer.parseInt(readLine(), HEX);
			this.input.skipNBytes(length);
			readLine();
		}
		while (length > 0);
	}

	private String readLine() throws IOException {
		StringBuilder line = new StringBuilder();
		for (int next = this.input.read(); next != '\n'; next = this.input.read()) {
			if (next < 0) {
				throw new EOFException();
			}
			line.append((char) next);
		}
		return line.toString().strip();
	}

	/** Closes the connection. A call in progress fails. */
	@Override
	public void close() {
		try {
			this.socket.close();
		}
		catch (IOException ex) {
			// The socket is closed even if it throws this.
		}
	}

	/**
	 * The status and the error count of a response.
	 *
	 * @param errors the number of records that did not run
	 */
	record Answer(int status, int errors) {

	}

}
