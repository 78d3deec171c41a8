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
 * A connection over which the service calls itself. It reads no more of HTTP than the
 * service's own answers have, so that the warm-up takes no time to warm up itself.
 */
final class LoopbackConnection implements AutoCloseable {

	private static final String LENGTH = "content-length:";

	private static final String ERRORS = "pipeset-errors:";

	private static final int HEX = 16;

	/** A service that is busy with callers' jobs is warm without this. */
	private static final int MOST_SILENCE_MILLIS = 5000;

	private final Socket socket;

	private final InputStream input;

	LoopbackConnection(InetSocketAddress service, SocketFactory sockets) throws IOException {
		this.socket = sockets.createSocket();
		try {
			this.socket.setTcpNoDelay(true);
			this.socket.setSoTimeout(MOST_SILENCE_MILLIS);
			this.socket.connect(service, MOST_SILENCE_MILLIS);
			this.input = new BufferedInputStream(this.socket.getInputStream());
		}
		catch (IOException ex) {
			this.socket.close();
			throw ex;
		}
	}

	/**
	 * Sends a request, and reads its answer.
	 * @param request the whole request
	 * @throws IOException if the connection breaks
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

	/** Closes the connection. A call under way fails. */
	@Override
	public void close() {
		try {
			this.socket.close();
		}
		catch (IOException ex) {
			// It is closed all the same.
		}
	}

	/**
	 * The part of an answer that matters here.
	 *
	 * @param errors the records that did not run
	 */
	record Answer(int status, int errors) {

	}

}
