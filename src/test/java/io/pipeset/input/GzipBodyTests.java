package io.pipeset.input;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;

import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.memory.MemoryReservation;
import io.pipeset.request.BodyLimitException;
import io.pipeset.request.ByteLimit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

@Timeout(30)
class GzipBodyTests {

	private static final byte[] TEXT = "[\"SET\",\"key\",\"value\"]\n".repeat(40).getBytes(StandardCharsets.UTF_8);

	@Test
	void inflatesPiecesOfEverySize() throws IOException {
		byte[] gzip = gzip(TEXT);
		for (int piece = 1; piece <= gzip.length; piece++) {
			for (int target = 1; target < 2_000; target += 97) {
				assertThat(read(new Pieces(gzip, piece), target)).isEqualTo(TEXT);
			}
		}
	}

	@Test
	void membersFollowEachOther() throws IOException {
		byte[] members = join(gzip(TEXT), gzip(new byte[0]), gzip(TEXT), gzip(new byte[0]));
		for (int piece = 1; piece <= members.length; piece++) {
			assertThat(read(new Pieces(members, piece), 1_000)).isEqualTo(join(TEXT, TEXT));
		}
	}

	@Test
	void headerMayHaveAllOptionalFields() throws IOException {
		byte[] gzip = gzip(TEXT);
		ByteArrayOutputStream header = new ByteArrayOutputStream();
		header.writeBytes(Arrays.copyOf(gzip, 10));
		header.writeBytes(new byte[] { 3, 0, 'x', 0, 'y' });
		header.writeBytes("name\0comment\0".getBytes(StandardCharsets.ISO_8859_1));
		byte[] bytes = header.toByteArray();
		bytes[3] = 0x1F;
		CRC32 crc = new CRC32();
		crc.update(bytes);
		byte[] check = { (byte) crc.getValue(), (byte) (crc.getValue() >> 8) };
		byte[] rest = Arrays.copyOfRange(gzip, 10, gzip.length);
		assertThat(read(new Pieces(join(bytes, check, rest), 1), 100)).isEqualTo(TEXT);
		check[0] ^= 1;
		assertBroken(join(bytes, check, rest), bytes.length + 2, "gzip's header has a wrong checksum");
	}

	@Test
	void truncatedBodyIsBrokenAtItsEnd() {
		byte[] gzip = gzip(TEXT);
		for (int length = 0; length < gzip.length; length++) {
			assertBroken(Arrays.copyOf(gzip, length), length, "the body ends inside gzip's");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			0  | 0  | expected gzip's byte 0x1F, found byte 0xE0
			1  | 1  | expected gzip's byte 0x8B, found byte 0x74
			2  | 2  | expected gzip's byte 0x08, found byte 0xF7
			3  | 3  | gzip's header has reserved flags
			-8 | -4 | gzip's data has a wrong checksum
			-4 | 0  | gzip's data has a wrong length
			""")
	void wrongByteIsNamedWithItsOffset(int flipped, int place, String message) {
		byte[] gzip = gzip(TEXT);
		gzip[Math.floorMod(flipped, gzip.length)] ^= (byte) 0xFF;
		assertBroken(gzip, (flipped < 0) ? gzip.length + place : place, message);
	}

	@Test
	void zerosAfterTheLastMemberArePadding() throws IOException {
		byte[] padded = join(gzip(TEXT), gzip(TEXT), new byte[512]);
		for (int piece : new int[] { 1, 7, padded.length - 511, padded.length }) {
			assertThat(read(new Pieces(padded, piece), 1_000)).isEqualTo(join(TEXT, TEXT));
		}
		assertBroken(join(padded, gzip(TEXT)), padded.length,
				"expected zeros or the end after gzip's last member," + " found byte 0x1F");
		assertBroken(new byte[512], 0, "expected gzip's byte 0x1F, found byte 0x00");
	}

	@Test
	void bytesAfterTheLastMemberAreRefused() {
		byte[] gzip = gzip(TEXT);
		assertBroken(join(gzip, new byte[] { 'x' }), gzip.length, "expected gzip's byte 0x1F, found byte 0x78");
		assertBroken(join(gzip, new byte[] { 0x1F }), gzip.length + 1, "the body ends inside gzip's header");
	}

	@Test
	void bytesBeforeAFaultAreRight() {
		byte[] random = new byte[50_000];
		new Random(1).nextBytes(random);
		byte[] gzip = gzip(random);
		for (int seed = 0; seed < 1_000; seed++) {
			byte[] mutated = gzip.clone();
			int place = new Random(seed).nextInt(mutated.length);
			mutated[place] ^= (byte) (1 << (seed % 8));
			ByteArrayOutputStream out = new ByteArrayOutputStream();
			try (GzipBody body = new GzipBody(new Pieces(mutated, 1 + seed))) {
				body.transferTo(out);
				// Some bytes of the header have no meaning, so that their change is not
				// noticed.
				assertThat(out.toByteArray()).as("seed %d", seed).isEqualTo(random);
			}
			catch (MalformedBodyException ex) {
				assertThat(ex.isCompressed()).isTrue();
				assertThat(ex.byteOffset()).as("seed %d", seed).isBetween((long) place, (long) mutated.length);
			}
			catch (IOException ex) {
				throw new AssertionError("seed " + seed, ex);
			}
		}
	}

	@Test
	void bytesBeforeAFaultAreTheSameHoweverTheyArrive() {
		byte[] lines = IntStream.range(0, 2_000)
			.mapToObj((i) -> "[\"SET\",\"key" + i + "\",\"" + i * 7919L % 2003 + "\"]\n")
			.collect(Collectors.joining())
			.getBytes(StandardCharsets.UTF_8);
		byte[] gzip = gzip(lines);
		int breaks = 0;
		for (int place = gzip.length / 2; place < gzip.length - 8; place += 97) {
			byte[] broken = gzip.clone();
			Arrays.fill(broken, place, place + 4, (byte) 0xFF);
			byte[] expected = readToBreak(broken, 1, 1, Long.MAX_VALUE);
			assertThat(expected.length).isGreaterThan(1_000);
			breaks += (expected.length < lines.length) ? 1 : 0;
			for (int piece : new int[] { 7, 1_000, gzip.length }) {
				for (int target : new int[] { 100, 1 << 20 }) {
					assertThat(readToBreak(broken, piece, target, Long.MAX_VALUE)).as("%d %d %d", place, piece, target)
						.isEqualTo(expected);
				}
			}
		}
		assertThat(breaks).isPositive();
	}

	@Test
	void bytesWithinTheLimitAreTheSameHoweverTheyArrive() {
		byte[] gzip = gzip(TEXT);
		for (int piece : new int[] { 1, 7, gzip.length }) {
			for (int target : new int[] { 1, 100, 1 << 20 }) {
				assertThat(readToBreak(gzip, piece, target, 500)).isEqualTo(Arrays.copyOf(TEXT, 500));
			}
		}
	}

	/** The bytes that were returned before the exception that ends the body. */
	private static byte[] readToBreak(byte[] gzip, int piece, int target, long limit) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (InputStream body = limited(new Pieces(gzip, piece), limit)) {
			byte[] bytes = new byte[target];
			assertThatThrownBy(() -> {
				for (int count = body.read(bytes, 0, target); count >= 0; count = body.read(bytes, 0, target)) {
					out.write(bytes, 0, count);
				}
			}).isInstanceOf(IOException.class);
			assertThatThrownBy(body::read).isInstanceOf(IOException.class);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
		return out.toByteArray();
	}

	@Test
	void bombStopsAtTheLimit() throws IOException {
		byte[] bomb = gzip(new byte[64 << 20]);
		assertThat(bomb.length).isLessThan(100_000);
		try (InputStream body = limited(new ByteArrayInputStream(bomb), 1 << 20)) {
			ByteArrayOutputStream out = new ByteArrayOutputStream();
			assertThatThrownBy(() -> body.transferTo(out)).isInstanceOf(BodyLimitException.class)
				.hasMessage("The inflated body has more than 1048576 bytes;"
						+ " pipeset.limits.max-inflated-bytes allows 1048576");
			assertThat(out.size()).isLessThanOrEqualTo(1 << 20);
		}
		try (InputStream body = limited(new ByteArrayInputStream(gzip(TEXT)), TEXT.length)) {
			assertThat(body.readAllBytes()).isEqualTo(TEXT);
		}
	}

	@Test
	void flushedBytesAreReturnedBeforeItWaits() throws IOException {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		GZIPOutputStream gzip = new GZIPOutputStream(out, true);
		gzip.write(TEXT);
		gzip.flush();
		try (InputStream closed = new ByteArrayInputStream(new byte[0]);
				GzipBody body = new GzipBody(new SequenceInputStream(new ByteArrayInputStream(out.toByteArray()),
						new FilterInputStream(closed) {

							@Override
							public int read(byte[] target, int offset, int length) throws IOException {
								throw new IOException("silence");
							}

						}))) {
			assertThat(body.readNBytes(TEXT.length)).isEqualTo(TEXT);
			assertThatThrownBy(body::read).hasMessage("silence");
		}
	}

	@Test
	void closedBodyHasReleasedItsInflater() throws IOException {
		InputStream body = limited(new ByteArrayInputStream(gzip(TEXT)), 1 << 20);
		assertThat(body.read()).isEqualTo('[');
		body.close();
		// The message of the JDK's inflater; its exception has another type since JDK 25.
		assertThatThrownBy(body::read).isInstanceOf(RuntimeException.class).hasMessage("Inflater has been closed");
	}

	private static InputStream limited(InputStream compressed, long bytes) {
		return BodyEncoding.GZIP.decompress(compressed, new ByteLimit("pipeset.limits.max-inflated-bytes", bytes),
				MemoryReservation.UNLIMITED);
	}

	private static void assertBroken(byte[] gzip, long offset, String message) {
		for (int piece : new int[] { 1, 3, gzip.length + 1 }) {
			MalformedBodyException exception = catchThrowableOfType(MalformedBodyException.class,
					() -> read(new Pieces(gzip, piece), 100));
			assertThat(exception).hasMessageStartingWith(message);
			assertThat(exception.byteOffset()).isEqualTo(offset);
			assertThat(exception.isCompressed()).isTrue();
		}
	}

	private static byte[] read(InputStream compressed, int target) throws IOException {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (GzipBody body = new GzipBody(compressed)) {
			byte[] bytes = new byte[target];
			int count;
			while ((count = body.read(bytes, 0, target)) >= 0) {
				out.write(bytes, 0, count);
			}
			assertThat(body.read()).isEqualTo(-1);
		}
		return out.toByteArray();
	}

	private static byte[] gzip(byte[] bytes) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
			gzip.write(bytes);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
		return out.toByteArray();
	}

	private static byte[] join(byte[]... parts) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		for (byte[] part : parts) {
			out.writeBytes(part);
		}
		return out.toByteArray();
	}

}
