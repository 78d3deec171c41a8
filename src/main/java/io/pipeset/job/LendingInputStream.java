package io.pipeset.job;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * A body that, before it may block, lends the lanes what has been read, so that what is
 * there is sent while an uploader pauses.
 */
final class LendingInputStream extends FilterInputStream {

	private final Lanes lanes;

	private final JobContext context;

	LendingInputStream(InputStream body, Lanes lanes, JobContext context) {
		super(body);
		this.lanes = lanes;
		this.context = context;
	}

	@Override
	public int read() throws IOException {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		if (this.in.available() > 0) {
			return this.in.read(target, offset, length);
		}
		if (this.context.stop().isSet()) {
			// A record that comes byte by byte would keep a job that is stopped.
			throw new IOException("the job was stopped in the middle of a record");
		}
		this.lanes.lend();
		this.context.memory().bodyPauses();
		try {
			return this.in.read(target, offset, length);
		}
		finally {
			this.context.memory().bodyGoesOn();
			this.lanes.reclaim();
		}
	}

}
