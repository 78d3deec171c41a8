package io.pipeset.benchmark.process;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;

/**
 * Puts a Redis far away: bytes go out half a round trip after they came in, in order, in
 * each direction, at any throughput.
 */
public final class DelayProxy implements AutoCloseable {

	private final ServerSocket listener;

	private final int target;

	private volatile long delayNanos;

	private DelayProxy(ServerSocket listener, int target) {
		this.listener = listener;
		this.target = target;
	}

	/**
	 * Opens a proxy without a delay.
	 * @param target the port it forwards to
	 * @return the proxy, to be closed by the caller
	 */
	public static DelayProxy open(int target) {
		try {
			DelayProxy proxy = new DelayProxy(new ServerSocket(0, 64, InetAddress.getLoopbackAddress()), target);
			Thread thread = new Thread(proxy::accept, "proxy");
			thread.setDaemon(true);
			thread.start();
			return proxy;
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot open a proxy", ex);
		}
	}

	public int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * Changes the distance of the Redis, also for open connections.
	 * @param millis the round trip to it
	 */
	public void roundTrip(long millis) {
		this.delayNanos = TimeUnit.MILLISECONDS.toNanos(millis) / 2;
	}

	private void accept() {
		try {
			while (true) {
				Socket client = this.listener.accept();
				Socket server = new Socket(InetAddress.getLoopbackAddress(), this.target);
				client.setTcpNoDelay(true);
				server.setTcpNoDelay(true);
				DelayedStream.start(client, server, () -> this.delayNanos);
				DelayedStream.start(server, client, () -> this.delayNanos);
			}
		}
		catch (IOException ex) {
			if (!this.listener.isClosed()) {
				throw new BenchmarkException("The proxy failed", ex);
			}
		}
	}

	@Override
	public void close() {
		try {
			this.listener.close();
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot close the proxy", ex);
		}
	}

}
