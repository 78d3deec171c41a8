package io.pipeset.web.source;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import org.jspecify.annotations.Nullable;

/**
 * A server of resources that breaks connections at exact bytes, forgets ranges, changes
 * its resources and redirects. Each resource has its own path.
 */
final class ResourceServer implements AutoCloseable {

	private final ServerSocket socket;

	private final Map<String, Resource> resources = new ConcurrentHashMap<>();

	private ResourceServer(ServerSocket socket) {
		this.socket = socket;
	}

	static ResourceServer open() {
		try {
			ResourceServer server = new ResourceServer(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
			server.run(server::accept);
			return server;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	String url(String path) {
		return "http://127.0.0.1:" + this.socket.getLocalPort() + path;
	}

	Resource put(String path, String type, byte[] body) {
		Resource resource = new Resource(type, body);
		this.resources.put(path, resource);
		return resource;
	}

	private void run(Runnable task) {
		Thread thread = new Thread(task, "resource-server");
		thread.setDaemon(true);
		thread.start();
	}

	private void accept() {
		while (!this.socket.isClosed()) {
			try {
				Socket connection = this.socket.accept();
				run(() -> serve(connection));
			}
			catch (IOException ex) {
				// The server is closed.
			}
		}
	}

	private void serve(Socket connection) {
		try (connection) {
			BufferedReader in = new BufferedReader(
					new InputStreamReader(connection.getInputStream(), StandardCharsets.ISO_8859_1));
			List<String> head = new ArrayList<>();
			for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
				head.add(line);
			}
			if (head.isEmpty()) {
				return;
			}
			String path = head.get(0).split(" ", -1)[1].replaceFirst("\\?.*", "");
			Resource resource = this.resources.get(path);
			OutputStream out = connection.getOutputStream();
			if (resource == null) {
				out.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
					.getBytes(StandardCharsets.ISO_8859_1));
				return;
			}
			resource.serve(head, in, out);
		}
		catch (SocketException ex) {
			// The client has closed the connection.
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** A resource, and how the next responses break. */
	static final class Resource {

		private final String type;

		private volatile byte[] body;

		private volatile @Nullable String etag = "\"one\"";

		private volatile @Nullable String encoding;

		private volatile @Nullable String location;

		private volatile boolean ranges = true;

		private volatile boolean sized = true;

		/** After how many bytes the next responses break off. */
		private final Queue<Integer> cuts = new ConcurrentLinkedQueue<>();

		private final Queue<Integer> statuses = new ConcurrentLinkedQueue<>();

		/** Every response after this many bytes waits; -1 for none. */
		private volatile int pauseAt = -1;

		private final CountDownLatch paused = new CountDownLatch(1);

		private final CountDownLatch goesOn = new CountDownLatch(1);

		/** Whether the response at the pause goes on only with the end of its client. */
		private volatile boolean held;

		private volatile boolean left;

		/** Whether nothing is answered before {@link #goOn}. */
		private volatile boolean silent;

		/** Whether the body comes in a chunk, and without a length. */
		private volatile boolean chunked;

		/** Whether a part is sent whatever version the client has. */
		private volatile boolean anyVersion;

		private volatile @Nullable String lastModified;

		/** The total in {@code Content-Range}; {@code null} for the right one. */
		private volatile @Nullable String total;

		/** The most bytes of a part. */
		private volatile int part = Integer.MAX_VALUE;

		private final List<List<String>> requests = new CopyOnWriteArrayList<>();

		Resource(String type, byte[] body) {
			this.type = type;
			this.body = body;
		}

		Resource cutAt(Integer... bytes) {
			this.cuts.addAll(List.of(bytes));
			return this;
		}

		Resource answer(Integer... statuses) {
			this.statuses.addAll(List.of(statuses));
			return this;
		}

		Resource withoutRanges() {
			this.ranges = false;
			return this;
		}

		Resource withoutLength() {
			this.sized = false;
			return this;
		}

		Resource etag(@Nullable String etag) {
			this.etag = etag;
			return this;
		}

		Resource encoding(String encoding) {
			this.encoding = encoding;
			return this;
		}

		Resource redirectTo(String location) {
			this.location = location;
			return this;
		}

		Resource pauseAt(int bytes) {
			this.pauseAt = bytes;
			return this;
		}

		/** Every response after this many bytes waits until the client has left. */
		Resource holdAt(int bytes) {
			this.held = true;
			return pauseAt(bytes);
		}

		/** Whether a client has left a response that waited for this. */
		boolean isLeft() {
			return this.left;
		}

		Resource silent() {
			this.silent = true;
			return this;
		}

		Resource chunked() {
			this.chunked = true;
			return withoutLength();
		}

		Resource partsOfAnyVersion() {
			this.anyVersion = true;
			return this;
		}

		Resource lastModified(String date) {
			this.lastModified = date;
			return this;
		}

		Resource total(String total) {
			this.total = total;
			return this;
		}

		Resource partsOf(int bytes) {
			this.part = bytes;
			return this;
		}

		void awaitPause() throws InterruptedException {
			this.paused.await();
		}

		void goOn() {
			this.goesOn.countDown();
		}

		void change(byte[] body, String etag) {
			this.body = body;
			this.etag = etag;
		}

		List<List<String>> requests() {
			return this.requests;
		}

		private void serve(List<String> head, Reader in, OutputStream out) throws IOException, InterruptedException {
			this.requests.add(head);
			if (this.silent) {
				this.goesOn.await();
			}
			Integer status = this.statuses.poll();
			if (status != null || this.location != null) {
				String answer = "HTTP/1.1 " + ((status != null) ? status : 302) + " Other\r\nContent-Length: 0\r\n"
						+ ((this.location != null) ? "Location: " + this.location + "\r\n" : "")
						+ "Connection: close\r\n\r\n";
				out.write(answer.getBytes(StandardCharsets.ISO_8859_1));
				return;
			}
			byte[] whole = this.body;
			String range = header(head, "range");
			String ifRange = header(head, "if-range");
			boolean partial = this.ranges && !range.isEmpty()
					&& (this.anyVersion || ifRange.isEmpty() || ifRange.equals(this.etag));
			int from = (partial) ? Integer.parseInt(range.replaceAll("bytes=|-", "")) : 0;
			if (partial && from == whole.length) {
				out.write(
						"HTTP/1.1 416 Range\r\nContent-Length: 0\r\nContent-Range: bytes */%d\r\nConnection: close\r\n\r\n"
							.formatted(whole.length)
							.getBytes(StandardCharsets.ISO_8859_1));
				return;
			}
			int end = (partial && this.part < whole.length - from) ? from + this.part : whole.length;
			StringBuilder answer = new StringBuilder((partial) ? "HTTP/1.1 206 Partial\r\n" : "HTTP/1.1 200 OK\r\n");
			answer.append("Content-Type: ").append(this.type).append("\r\nConnection: close\r\n");
			if (this.sized || partial) {
				answer.append("Content-Length: ").append(end - from).append("\r\n");
			}
			boolean chunk = this.chunked && !partial;
			if (chunk) {
				answer.append("Transfer-Encoding: chunked\r\n");
			}
			if (this.lastModified != null) {
				answer.append("Last-Modified: ").append(this.lastModified).append("\r\n");
			}
			if (this.etag != null) {
				answer.append("ETag: ").append(this.etag).append("\r\n");
			}
			if (this.encoding != null) {
				answer.append("Content-Encoding: ").append(this.encoding).append("\r\n");
			}
			if (partial) {
				String total = this.total;
				answer.append("Content-Range: bytes %d-%d/%s\r\n".formatted(from, end - 1,
						(total != null) ? total : whole.length));
			}
			answer.append("\r\n");
			if (chunk) {
				answer.append(Integer.toHexString(whole.length)).append("\r\n");
			}
			out.write(answer.toString().getBytes(StandardCharsets.ISO_8859_1));
			Integer cut = this.cuts.poll();
			int to = (cut != null) ? Math.min(end, from + cut) : end;
			int pause = this.pauseAt;
			if (pause >= from && pause < to) {
				out.write(whole, from, pause - from);
				out.flush();
				this.paused.countDown();
				if (this.held) {
					awaitEnd(in);
					this.left = true;
					return;
				}
				this.goesOn.await();
				from = pause;
			}
			out.write(whole, from, to - from);
			if (chunk && to == whole.length) {
				out.write("\r\n0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
			}
		}

		private static void awaitEnd(Reader in) throws IOException {
			try {
				in.transferTo(Writer.nullWriter());
			}
			catch (SocketException ex) {
				// The client has reset the connection.
			}
		}

		private static String header(List<String> head, String name) {
			return head.stream()
				.filter((line) -> line.toLowerCase(Locale.ROOT).startsWith(name + ":"))
				.map((line) -> line.substring(name.length() + 1).strip())
				.findFirst()
				.orElse("");
		}

	}

}
