package io.pipeset.benchmark.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection. Bytes on their way are bounded by time only, as on a
 * line. Bytes that have arrived and are not read are bounded in number, as by a socket's
 * buffer.
 */
final class DelayedStream {

	private static final int READ_BYTES = 1 << 17;

	private static final long ARRIVED_BYTES = 4 << 20;

	private final Socket from;

	private final Socket to;

	private final LongSupplier delayNanos;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final Deque<Piece> pieces = new ArrayDeque<>();

	private boolean ended;

	private boolean broken;

	private DelayedStream(Socket from, Socket to, LongSupplier delayNanos) {
		this.from = from;
		this.to = to;
		this.delayNanos = delayNanos;
	}

	static void start(Socket from, Socket to, LongSupplier delayNanos) {
		DelayedStream stream = new DelayedStream(from, to, delayNanos);
		for (Runnable side : new Runnable[] { stream::read, stream::write }) {
			Thread thread = new Thread(side, "proxy-stream");
			thread.setDaemon(true);
			thread.start();
		}
	}

	private void read() {
		byte[] buffer = new byte[READ_BYTES];
		try {
			InputStream in = this.from.getInputStream();
			for (int read = in.read(buffer); read >= 0 && put(buffer, read); read = in.read(buffer)) {
				awaitRoom();
			}
			end(false);
		}
		catch (IOException ex) {
			end(false);
		}
	}

	private void write() {
		try (this.to) {
			OutputStream out = this.to.getOutputStream();
			for (Piece piece = take(); piece != null; piece = take()) {
				out.write(piece.bytes());
			}
		}
		catch (IOException ex) {
			end(true);
		}
	}

	private boolean put(byte[] buffer, int length) {
		Piece piece = new Piece(Arrays.copyOf(buffer, length), System.nanoTime() + this.delayNanos.getAsLong());
		this.lock.lock();
		try {
			this.pieces.add(piece);
			this.changed.signalAll();
			return !this.broken;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void awaitRoom() {
		this.lock.lock();
		try {
			while (!this.broken && arrivedBytes() > ARRIVED_BYTES) {
				this.changed.awaitUninterruptibly();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private long arrivedBytes() {
		long now = System.nanoTime();
		long bytes = 0;
		for (Piece piece : this.pieces) {
			if (piece.dueNanos() - now > 0) {
				break;
			}
			bytes += piece.bytes().length;
		}
		return bytes;
	}

	/** The next piece when it is due; {@code null} at the end. */
	private @Nullable Piece take() {
		this.lock.lock();
		try {
			while (true) {
				Piece next = this.pieces.peek();
				if (this.broken || (next == null && this.ended)) {
					return null;
				}
				if (next == null) {
					this.changed.awaitUninterruptibly();
				}
				else if (next.dueNanos() - System.nanoTime() > 0) {
					awaitUntil(next.dueNanos());
				}
				else {
					this.changed.signalAll();
					return this.pieces.poll();
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	@SuppressWarnings("WaitNotInLoop") // the caller loops
	private void awaitUntil(long dueNanos) {
		try {
			long unused = this.changed.awaitNanos(dueNanos - System.nanoTime());
		}
		catch (InterruptedException ex) {
			throw new BenchmarkException("Nobody interrupts a proxy", ex);
		}
	}

	private void end(boolean broken) {
		this.lock.lock();
		try {
			this.ended = true;
			this.broken |= broken;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Bytes on their way. */
	private static final class Piece {

		private final byte[] bytes;

		private final long dueNanos;

		Piece(byte[] bytes, long dueNanos) {
			this.bytes = bytes;
			this.dueNanos = dueNanos;
		}

		byte[] bytes() {
			return this.bytes;
		}

		long dueNanos() {
			return this.dueNanos;
		}

	}

}
