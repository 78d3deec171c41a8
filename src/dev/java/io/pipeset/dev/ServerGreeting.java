package io.pipeset.dev;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The facts that a server reports about itself after it accepts the password and answers
 * PING. They are queried over a plain socket, so that starting a server needs no Redis
 * client.
 *
 * @param product "Redis", or the {@code server_name} of another server
 * @param version its version such as "7.0.15"
 * @param pid the process id of the server itself
 */
record ServerGreeting(String product, String version, long pid) {

	private static final int TIMEOUT_MILLIS = 1000;

	private static final int MAX_REPLY_BYTES = 1 << 20;

	/**
	 * Queries a server once.
	 * @param port the port on 127.0.0.1
	 * @param password the password, of letters and digits
	 * @return its greeting; empty if it does not answer yet or refuses the password
	 */
	static Optional<ServerGreeting> query(int port, String password) {
		try (Socket socket = new Socket()) {
			socket.setSoTimeout(TIMEOUT_MILLIS);
			socket.connect(new InetSocketAddress(InetAddress.getByAddress(new byte[] { 127, 0, 0, 1 }), port),
					TIMEOUT_MILLIS);
			String request = "*2\r\n$4\r\nAUTH\r\n$" + password.length() + "\r\n" + password + "\r\n"
					+ "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n";
			socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
			DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
			if (!readLine(in).equals("+OK") || !readLine(in).equals("+PONG")) {
				return Optional.empty();
			}
			return Optional.of(parse(readBulk(in)));
		}
		catch (IOException | NumberFormatException ex) {
			return Optional.empty();
		}
	}

	private static ServerGreeting parse(String info) throws IOException {
		Map<String, String> fields = new HashMap<>();
		info.lines().forEach((line) -> {
			int colon = line.indexOf(':');
			if (colon > 0) {
				fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
			}
		});
		String version = fields.getOrDefault("redis_version", "unknown");
		String pid = fields.get("process_id");
		if (pid == null) {
			throw new ProtocolException("INFO has no process_id");
		}
		String name = fields.get("server_name");
		if (name == null || name.isEmpty()) {
			return new ServerGreeting("Redis", version, Long.parseLong(pid));
		}
		return new ServerGreeting(Character.toUpperCase(name.charAt(0)) + name.substring(1),
				fields.getOrDefault(name + "_version", version), Long.parseLong(pid));
	}

	private static String readBulk(DataInputStream in) throws IOException {
		String header = readLine(in);
		int length = header.startsWith("$") ? Integer.parseInt(header.substring(1)) : -1;
		if (length < 0 || length > MAX_REPLY_BYTES) {
			throw new ProtocolException("INFO was answered " + header);
		}
		byte[] bytes = new byte[length];
		in.readFully(bytes);
		return new String(bytes, StandardCharsets.UTF_8);
	}

	private static String readLine(InputStream in) throws IOException {
		StringBuilder line = new StringBuilder();
		for (int c = in.read(); c != '\r'; c = in.read()) {
			if (c < 0 || line.length() > 1000) {
				throw new ProtocolException("Not a line of RESP");
			}
			line.append((char) c);
		}
		in.read();
		return line.toString();
	}

}
