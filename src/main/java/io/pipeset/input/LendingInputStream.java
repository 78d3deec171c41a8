package io.pipeset.input;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLong;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.memory.MemoryShare;

/**
 * A body that lends partly filled slabs to the lanes before it may block, so that their
 * records are sent while an upload is idle.
 */
final class LendingInputStream extends FilterInputStream {

	private final Lanes lanes;

	private final JobStop stop;

	private final MemoryShare memory;

	/** Written by the reading thread alone. */
	private final AtomicLong bytesRead = new AtomicLong();

	LendingInputStream(InputStream body, Lanes lanes, JobStop stop, MemoryShare memory) {
		super(body);
		this.lanes = lanes;
		this.stop = stop;
		this.memory = memory;
	}

	@Override
	public int read() throws IOException {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		if (this.stop.isSet()) {
			// Otherwise a record that arrives byte by byte, or endless blank lines, would
			// keep a stopped job alive.
			throw new IOException("the job was stopped in the middle of a record");
		}
		if (this.in.available() > 0) {
			return count(this.in.read(target, offset, length));
		}
		this.lanes.lend();
		this.memory.startBodyWait();
		try {
			return count(this.in.read(target, offset, length));
		}
		finally {
			this.memory.endBodyWait();
			this.lanes.reclaim();
		}
	}

	private int count(int bytes) {
		this.bytesRead.setRelease(this.bytesRead.getPlain() + Math.max(0, bytes));
		return bytes;
	}

	/** How many bytes were read so far; any thread may call this. */
	long bytesRead() {
		return this.bytesRead.getAcquire();
	}

}
