package io.pipeset.input;

import java.io.InputStream;
import java.util.Locale;

import com.github.luben.zstd.util.Native;
import io.pipeset.record.memory.MemoryReservation;
import io.pipeset.request.ByteLimit;
import org.jspecify.annotations.Nullable;

/** How a body is compressed, by its header {@code Content-Encoding}. */
public enum BodyEncoding {

	IDENTITY {
		@Override
		InputStream decompress(InputStream body, ByteLimit limit, MemoryReservation memory) {
			return body;
		}
	},

	GZIP {
		@Override
		InputStream decompress(InputStream body, ByteLimit limit, MemoryReservation memory) {
			return new InflatedBody(new GzipBody(body), limit);
		}
	},

	/** Its window is at most 8 MB, by RFC 9659. */
	ZSTD {
		@Override
		InputStream decompress(InputStream body, ByteLimit limit, MemoryReservation memory) {
			return new InflatedBody(new ZstdBody(body, memory), limit);
		}
	};

	/** The values of the header, for messages. */
	public static final String NAMES = "gzip, zstd, identity";

	/**
	 * Finds an encoding.
	 * @param header the value of {@code Content-Encoding} in any case; empty if the
	 * request has none
	 * @return the encoding, or {@code null} if it is not supported
	 */
	public static @Nullable BodyEncoding of(String header) {
		return switch (header.toLowerCase(Locale.ROOT)) {
			case "", "identity" -> IDENTITY;
			case "gzip", "x-gzip" -> GZIP;
			case "zstd" -> ZSTD;
			default -> null;
		};
	}

	/**
	 * Finds out why this machine cannot decompress bodies of the encoding.
	 * @return the reason, or {@code null} if it can
	 */
	public @Nullable String unavailable() {
		try {
			if (this == ZSTD) {
				Native.load();
			}
			return null;
		}
		catch (LinkageError ex) {
			return "its native library cannot be loaded from " + System.getProperty("java.io.tmpdir") + ": "
					+ ex.getMessage();
		}
	}

	/** Whether bodies of the encoding are compressed. */
	public boolean isCompressed() {
		return this != IDENTITY;
	}

	/**
	 * Decompresses a body.
	 * @param body the bytes as they were received; left open if they are compressed
	 * @param limit the most decompressed bytes
	 * @param memory the memory of the job
	 * @return the decompressed bytes
	 */
	abstract InputStream decompress(InputStream body, ByteLimit limit, MemoryReservation memory);

}
