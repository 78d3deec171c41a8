package io.pipeset.run;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Numbers in several buffers are sorted and found, whatever numbers they are. */
class MappedLongsTests {

	/** More numbers than one buffer, so that parts go over the end of one. */
	private static final int PIECE_BITS = 14;

	private static final int CHUNK = MappedLongs.CHUNK;

	private final Random random = new Random(7);

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, (1 << PIECE_BITS) - 1, 1 << PIECE_BITS, (1 << PIECE_BITS) + 1, CHUNK - 1, CHUNK,
			CHUNK + 1, 5 * CHUNK + 3 })
	void randomNumbersAreFound(int count) {
		check(this.random.longs(count).map((number) -> number >>> 1).toArray());
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, CHUNK, CHUNK + 1, 3 * CHUNK })
	void equalNumbersAreFound(int count) {
		check(LongStream.generate(() -> 42).limit(count).toArray());
		check(LongStream.generate(() -> 0).limit(count).toArray());
		check(LongStream.generate(() -> -1L >>> 1).limit(count).toArray());
	}

	@Test
	void fewDifferentNumbersAndTheBoundsAreFound() {
		long[] bounds = { 0, 1, Long.MAX_VALUE, Long.MAX_VALUE - 1, 1L << 62, (1L << 62) - 1, 511, 512 };
		check(this.random.ints(4 * CHUNK, 0, bounds.length).mapToLong((i) -> bounds[i]).toArray());
	}

	@Test
	void closeNumbersAreFound() {
		check(LongStream.range(0, 3 * CHUNK).map((i) -> 3 * i).toArray());
		check(LongStream.range(0, 3 * CHUNK).map((i) -> Long.MAX_VALUE - 3 * i).toArray());
	}

	@Test
	void aSortThatIsStoppedLosesNoNumber() {
		long[] numbers = this.random.longs(3 * CHUNK).map((number) -> number >>> 1).toArray();
		List<ByteBuffer> pieces = pieces(numbers);
		new MappedLongs(pieces, PIECE_BITS).sort(() -> true);
		long[] left = pieces.stream().flatMapToLong(MappedLongsTests::longs).sorted().toArray();
		assertThat(left).isEqualTo(LongStream.of(numbers).sorted().toArray());
	}

	private void check(long[] numbers) {
		List<ByteBuffer> pieces = pieces(numbers);
		MappedLongs mapped = new MappedLongs(pieces, PIECE_BITS);
		mapped.sort(() -> false);
		long[] sorted = LongStream.of(numbers).sorted().toArray();
		assertThat(pieces.stream().flatMapToLong(MappedLongsTests::longs).toArray()).isEqualTo(sorted);
		long marked = 0;
		for (long number : sorted) {
			long at = mapped.find(number);
			assertThat(at).isNotNegative();
			marked += (mapped.mark(at)) ? 1 : 0;
		}
		assertThat(marked).isEqualTo(LongStream.of(sorted).distinct().count());
		for (long number : sorted) {
			assertThat(mapped.mark(mapped.find(number))).isFalse();
		}
		Set<Long> known = new HashSet<>();
		LongStream.of(sorted).forEach(known::add);
		LongStream
			.concat(LongStream.of(0, Long.MAX_VALUE),
					LongStream.concat(this.random.longs(100).map((number) -> number >>> 1),
							LongStream.of(sorted).limit(1000).map((number) -> Math.max(0, number - 1))))
			.filter((number) -> !known.contains(number))
			.forEach((number) -> assertThat(mapped.find(number)).isEqualTo(-1));
	}

	private static LongStream longs(ByteBuffer piece) {
		return LongStream.range(0, piece.capacity() / Long.BYTES).map((i) -> piece.getLong((int) (i * Long.BYTES)));
	}

	private static List<ByteBuffer> pieces(long[] numbers) {
		List<ByteBuffer> pieces = new ArrayList<>();
		for (int from = 0; from < numbers.length; from += 1 << PIECE_BITS) {
			int count = Math.min(1 << PIECE_BITS, numbers.length - from);
			ByteBuffer piece = ByteBuffer.allocate(count * Long.BYTES).order(ByteOrder.nativeOrder());
			for (int i = 0; i < count; i++) {
				piece.putLong(i * Long.BYTES, numbers[from + i]);
			}
			pieces.add(piece);
		}
		return pieces;
	}

}
