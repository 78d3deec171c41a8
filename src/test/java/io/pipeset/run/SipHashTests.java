package io.pipeset.run;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The hashes are those of the reference implementation. */
class SipHashTests {

	/** The vectors of the reference implementation, in the order of their bytes. */
	@ParameterizedTest
	@CsvSource({ "0, 310e0edd47db6f72", "1, fd67dc93c539f874", "7, 37d1018bf50002ab", "8, 6224939a79f5f593",
			"15, e545be4961ca29a1", "16, db9bc2577fcc2a3f", "63, 724506eb4c328a95" })
	void theHashOfAscendingBytes(int length, String bytes) {
		byte[] source = new byte[length + 3];
		for (int i = 0; i < length; i++) {
			source[i + 3] = (byte) i;
		}
		long expected = Long.reverseBytes(Long.parseUnsignedLong(bytes, 16));
		SipHash hash = new SipHash(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);
		assertThat(hash.hash(source, 3, length)).isEqualTo(expected);
		assertThat(hash.hash(source, 3, length)).isEqualTo(expected);
	}

}
