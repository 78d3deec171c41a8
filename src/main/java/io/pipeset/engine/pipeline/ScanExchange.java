package io.pipeset.engine.pipeline;

import java.nio.charset.StandardCharsets;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import io.pipeset.engine.pipeline.call.ScanPosition;
import org.jspecify.annotations.Nullable;

/** Reads the names of the keys of one page by SCAN. */
final class ScanExchange extends ValueExchange {

	private final KeyQuery query;

	private final ScanPosition from;

	private final @Nullable String runId;

	private final KeyPage page;

	private final long sentNanos = System.nanoTime();

	private int arrays;

	private boolean cursorRead;

	/**
	 * Creates a SCAN.
	 * @param runId the {@code run_id} of the server; {@code null} if it is not known
	 * @param page receives the names and the next position
	 */
	ScanExchange(KeyQuery query, ScanPosition from, @Nullable String runId, KeyPage page) {
		super(1);
		this.query = query;
		this.from = from;
		this.runId = runId;
		this.page = page;
	}

	@Override
	public void writeTo(ByteBuf out) {
		CommandArgs<byte[], byte[]> arguments = new CommandArgs<>(ByteArrayCodec.INSTANCE).add(this.from.cursor());
		this.query.filter().arguments(this.query.count()).build(arguments);
		new Command<>(CommandType.SCAN, new StatusOutput<>(ByteArrayCodec.INSTANCE), arguments).encode(out);
	}

	@Override
	void array() {
		this.arrays++;
	}

	@Override
	void line(char marker, StringBuilder line) {
		if (marker != '-' || this.arrays > 0) {
			throw unexpected(line);
		}
		this.page.refuse("SCAN", line.substring(1));
	}

	@Override
	void bulk(byte[] bytes, long length) {
		if (this.arrays != ((this.cursorRead) ? 2 : 1)) {
			throw unexpected("a string");
		}
		if (this.cursorRead) {
			this.page.addName(bytes, length, length > bytes.length || this.query.those().test(bytes));
		}
		else {
			this.cursorRead = true;
			this.page.next(this.from.next(new String(bytes, StandardCharsets.US_ASCII), this.runId, this.sentNanos));
		}
	}

	@Override
	int maxBulk() {
		return this.page.room();
	}

}
