package io.pipeset.service;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A way to the service that loses two connections: one in the middle of the first upload,
 * and one with the first 202 on it, which the caller never reads. It may then lead to
 * another process.
 */
public final class LossyWay implements AutoCloseable {

	private final ServerSocket listener;

	private volatile int port;

	private final long uploadBytes;

	private final AtomicBoolean uploadLost = new AtomicBoolean();

	private final AtomicBoolean answerLost = new AtomicBoolean();

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	/**
	 * Opens a way.
	 * @param uploadBytes the bytes of a connection to the service after which the first
	 * one is lost; {@link Long#MAX_VALUE} for none
	 */
	public LossyWay(Service service, long uploadBytes) throws IOException {
		this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		this.port = service.port();
		this.uploadBytes = uploadBytes;
		start(this::listen);
	}

	/** The address of the service by this way. */
	public String url() {
		return "http://127.0.0.1:" + this.listener.getLocalPort();
	}

	/** Whether both connections were lost. */
	public boolean hasLostBoth() {
		return this.uploadLost.get() && this.answerLost.get();
	}

	public boolean hasLostAnswer() {
		return this.answerLost.get();
	}

	/** Leads to another process from now on. */
	public void lead(Service service) {
		this.port = service.port();
	}

	private void listen() throws IOException {
		while (true) {
			Socket caller = this.listener.accept();
			this.sockets.add(caller);
			Socket service;
			try {
				service = new Socket(InetAddress.getLoopbackAddress(), this.port);
			}
			catch (ConnectException ex) {
				// No process is there.
				caller.close();
				continue;
			}
			this.sockets.add(service);
			start(() -> forward(caller, service, true));
			start(() -> forward(service, caller, false));
		}
	}

	private void forward(Socket from, Socket to, boolean upload) throws IOException {
		try (from; to) {
			InputStream in = from.getInputStream();
			OutputStream out = to.getOutputStream();
			byte[] piece = new byte[8192];
			long all = 0;
			for (int bytes = in.read(piece); bytes >= 0; bytes = in.read(piece)) {
				all += bytes;
				boolean lost = (upload) ? all > this.uploadBytes && this.uploadLost.compareAndSet(false, true)
						: isTaken(piece, bytes) && this.answerLost.compareAndSet(false, true);
				if (lost) {
					from.setSoLinger(true, 0);
					to.setSoLinger(true, 0);
					return;
				}
				out.write(piece, 0, bytes);
			}
		}
	}

	/** The service writes the head of an answer at once. A 100 may stand ahead of it. */
	private static boolean isTaken(byte[] piece, int bytes) {
		return new String(piece, 0, bytes, StandardCharsets.ISO_8859_1).contains("HTTP/1.1 202");
	}

	private static void start(Task task) {
		Thread thread = new Thread(() -> {
			try {
				task.run();
			}
			catch (IOException ex) {
				// The connection has ended.
			}
		}, "lossy-way");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() throws IOException {
		this.listener.close();
		for (Socket socket : this.sockets) {
			socket.close();
		}
	}

	private interface Task {

		void run() throws IOException;

	}

}
