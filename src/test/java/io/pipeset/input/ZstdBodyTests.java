package io.pipeset.input;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.memory.MemoryReservation;
import io.pipeset.request.BodyLimitException;
import io.pipeset.request.ByteLimit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

@Timeout(60)
class ZstdBodyTests {

	private static final byte[] TEXT = "[\"SET\",\"key\",\"value\"]\n".repeat(40).getBytes(StandardCharsets.UTF_8);

	/** Several blocks. */
	private static final byte[] LINES = IntStream.range(0, 20_000)
		.mapToObj((i) -> "[\"SET\",\"key" + i + "\",\"" + i * 7919L % 2003 + "\"]\n")
		.collect(Collectors.joining())
		.getBytes(StandardCharsets.UTF_8);

	@Test
	void decompressesPiecesOfEverySize() throws IOException {
		byte[] zstd = zstd(TEXT, 3, true);
		for (int piece = 1; piece <= zstd.length; piece++) {
			for (int target = 1; target < 2_000; target += 97) {
				assertThat(read(new Pieces(zstd, piece), target)).isEqualTo(TEXT);
			}
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { -5, 1, 3, 10, 19 })
	void allLevels(int level) throws IOException {
		for (boolean checksum : new boolean[] { false, true }) {
			assertThat(read(new Pieces(zstd(LINES, level, checksum), 1_000), 5_000)).isEqualTo(LINES);
		}
		assertThat(read(new Pieces(Zstd.compress(LINES, level), 1 << 20), 1 << 20)).isEqualTo(LINES);
	}

	@Test
	void framesFollowEachOther() throws IOException {
		byte[] skipped = HexFormat.of().parseHex("5F2A4D18" + "03000000" + "010203");
		byte[] frames = join(zstd(TEXT, 3, true), skipped, zstd(new byte[0], 3, false), Zstd.compress(TEXT), skipped);
		for (int piece = 1; piece <= frames.length; piece++) {
			assertThat(read(new Pieces(frames, piece), 1_000)).isEqualTo(join(TEXT, TEXT));
		}
	}

	@Test
	void blocksWithoutCompression() throws IOException {
		byte[] random = new byte[300_000];
		new Random(1).nextBytes(random);
		assertThat(read(new Pieces(zstd(random, 3, true), 70_000), 5_000)).isEqualTo(random);
		assertThat(read(new Pieces(zstd(new byte[300_000], 3, true), 70_000), 5_000)).isEqualTo(new byte[300_000]);
	}

	@Test
	void truncatedBodyIsBrokenAtItsEnd() {
		byte[] zstd = zstd(TEXT, 3, true);
		for (int length = 0; length < zstd.length; length++) {
			assertBroken(Arrays.copyOf(zstd, length), length, "the body ends inside zstd's");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			00B52FFD           | 0 | expected zstd's bytes 28 B5 2F FD, found 00 B5 2F FD
			1F8B0800           | 0 | expected zstd's bytes 28 B5 2F FD, found 1F 8B 08 00
			28B52FFD0858010000 | 0 | zstd's data is broken: Unsupported frame parameter
			28B52FFD01580701   | 0 | zstd's data needs a dictionary, which is not supported
			28B52FFD0058070000 | 6 | zstd's data is broken: Data corruption detected
			28B52FFD0070010000 | 0 | zstd's data needs a window of 16777216 bytes; allowed are 8388608
			28B52FFDE0FFFFFFFFFFFFFFFF0100 | 0 | zstd's data needs a window of 18446744073709551615 bytes
			""")
	void aWrongHeader(String hex, int offset, String message) {
		assertBroken(HexFormat.of().parseHex(hex), offset, message);
	}

	@Test
	void aWrongChecksum() {
		byte[] zstd = zstd(TEXT, 3, true);
		zstd[zstd.length - 1] ^= 1;
		assertBroken(zstd, zstd.length - 4, "zstd's data is broken");
	}

	@Test
	void bytesAfterTheLastFrameAreRefused() {
		byte[] zstd = zstd(TEXT, 3, true);
		assertBroken(join(zstd, "more".getBytes(StandardCharsets.UTF_8)), zstd.length, "expected zstd's bytes");
		assertBroken(join(zstd, new byte[] { 0x28 }), zstd.length + 1, "the body ends inside zstd's header");
	}

	@Test
	void bytesBeforeAFaultAreTheSameHoweverTheyArrive() {
		byte[] zstd = zstd(LINES, 3, true);
		int breaks = 0;
		for (int place = zstd.length / 4; place < zstd.length - 8; place += zstd.length / 60) {
			byte[] broken = zstd.clone();
			Arrays.fill(broken, place, place + 4, (byte) 0xFF);
			byte[] expected = readToBreak(new Pieces(broken, 1), 1000, Long.MAX_VALUE);
			breaks += (expected.length > 0) ? 1 : 0;
			for (int piece : new int[] { 7, 1_000, zstd.length }) {
				for (int target : new int[] { 100, 1 << 20 }) {
					assertThat(readToBreak(new Pieces(broken, piece), target, Long.MAX_VALUE))
						.as("%d %d %d", place, piece, target)
						.isEqualTo(expected);
				}
			}
		}
		assertThat(breaks).isPositive();
	}

	@Test
	void bytesWithinTheLimitAreTheSameHoweverTheyArrive() {
		byte[] zstd = zstd(TEXT, 3, true);
		for (int piece : new int[] { 1, 7, zstd.length }) {
			for (int target : new int[] { 1, 100, 1 << 20 }) {
				assertThat(readToBreak(new Pieces(zstd, piece), target, 500)).isEqualTo(Arrays.copyOf(TEXT, 500));
			}
		}
	}

	@Test
	void bombStopsAtTheLimit() throws IOException {
		byte[] bomb = zstd(new byte[64 << 20], 3, false);
		assertThat(bomb.length).isLessThan(100_000);
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (InputStream body = limited(new ByteArrayInputStream(bomb), 1 << 20)) {
			assertThatThrownBy(() -> body.transferTo(out)).isInstanceOf(BodyLimitException.class);
		}
		assertThat(out.size()).isLessThanOrEqualTo(1 << 20);
	}

	@Test
	void windowsAreReserved() throws IOException {
		AtomicLong reserved = new AtomicLong();
		MemoryReservation memory = new MemoryReservation() {

			@Override
			public boolean tryReserve(long bytes) {
				return true;
			}

			@Override
			public void reserve(long bytes) {
				reserved.addAndGet(bytes);
			}

			@Override
			public void release(long bytes) {
				reserved.addAndGet(-bytes);
			}

			@Override
			public boolean isScarce() {
				return false;
			}

		};
		byte[] frames = join(Zstd.compress(TEXT), zstd(LINES, 3, false), zstd(LINES, 19, false));
		try (ZstdBody body = new ZstdBody(new Pieces(frames, 1), memory)) {
			body.readNBytes(TEXT.length);
			assertThat(reserved.get()).isBetween(500L << 10, 520L << 10);
			body.readNBytes(LINES.length);
			assertThat(reserved.get()).isBetween(2L << 20, 3L << 20);
			body.readNBytes(LINES.length);
			assertThat(reserved.get()).isEqualTo((8L << 20) + (512 << 10));
		}
		assertThat(reserved.get()).isZero();
	}

	@Test
	void flushedBytesAreReturnedBeforeItWaits() throws IOException {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		ZstdOutputStreamNoFinalizer zstd = new ZstdOutputStreamNoFinalizer(out);
		zstd.write(TEXT);
		zstd.flush();
		try (zstd;
				InputStream closed = new ByteArrayInputStream(new byte[0]);
				ZstdBody body = new ZstdBody(new SequenceInputStream(new ByteArrayInputStream(out.toByteArray()),
						new FilterInputStream(closed) {

							@Override
							public int read(byte[] target, int offset, int length) throws IOException {
								throw new IOException("silence");
							}

						}), MemoryReservation.UNLIMITED)) {
			assertThat(body.readNBytes(TEXT.length)).isEqualTo(TEXT);
			assertThatThrownBy(body::read).hasMessage("silence");
		}
	}

	@Test
	void theContentMayBeALargeSingleSegment() {
		ByteBuffer header = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
		header.putInt(0xFD2FB528).put((byte) 0xA0).putInt((8 << 20) + 1).put((byte) 1).putShort((short) 0);
		assertBroken(header.array(), 0, "zstd's data needs a window of 8388609 bytes");
	}

	private static InputStream limited(InputStream compressed, long bytes) {
		return BodyEncoding.ZSTD.decompress(compressed, new ByteLimit("pipeset.limits.max-inflated-bytes", bytes),
				MemoryReservation.UNLIMITED);
	}

	private static byte[] read(InputStream compressed, int target) throws IOException {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (ZstdBody body = new ZstdBody(compressed, MemoryReservation.UNLIMITED)) {
			byte[] bytes = new byte[target];
			for (int count = body.read(bytes, 0, target); count >= 0; count = body.read(bytes, 0, target)) {
				assertThat(count).isPositive();
				out.write(bytes, 0, count);
			}
			assertThat(body.read()).isEqualTo(-1);
		}
		return out.toByteArray();
	}

	/** The bytes that were returned before the exception that ends the body. */
	private static byte[] readToBreak(InputStream compressed, int target, long limit) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (InputStream body = limited(compressed, limit)) {
			byte[] bytes = new byte[target];
			for (int count = body.read(bytes, 0, target); count >= 0; count = body.read(bytes, 0, target)) {
				out.write(bytes, 0, count);
			}
		}
		catch (IOException ex) {
			return out.toByteArray();
		}
		return out.toByteArray();
	}

	private static void assertBroken(byte[] zstd, long offset, String message) {
		for (int piece : new int[] { 1, Math.max(1, zstd.length) }) {
			MalformedBodyException ex = catchThrowableOfType(MalformedBodyException.class,
					() -> read(new Pieces(zstd, piece), 1_000));
			assertThat(ex).hasMessageContaining(message);
			assertThat(ex.isCompressed()).isTrue();
			assertThat(ex.byteOffset()).isEqualTo(offset);
		}
	}

	private static byte[] zstd(byte[] bytes, int level, boolean checksum) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (ZstdOutputStreamNoFinalizer zstd = new ZstdOutputStreamNoFinalizer(out, level)) {
			zstd.setChecksum(checksum);
			zstd.write(bytes);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
		return out.toByteArray();
	}

	private static byte[] join(byte[]... parts) {
		ByteArrayOutputStream joined = new ByteArrayOutputStream();
		for (byte[] part : parts) {
			joined.writeBytes(part);
		}
		return joined.toByteArray();
	}

}
