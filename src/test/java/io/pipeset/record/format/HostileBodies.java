package io.pipeset.record.format;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;

/**
 * Valid bodies with hostile mutations, each from a seed. {@code -Dfuzz.bodies=100000}
 * creates more of them; {@code -Dfuzz.seed=17 -Dfuzz.bodies=1} repeats the one named by a
 * failure.
 */
public final class HostileBodies {

	private static final List<String> TELLING = List.of("\"", "'", "\\", ",", "\n", "\r", "\r\n", " ", "\t", "\0", "{",
			"}", "[", "]", ":", "$", "*", "-", "0", "9", "\u00ff", "\u00c0\u0080", "\u00ed\u00a0\u0080", "\\ud800",
			"\\udc00\\ud800", "\u00ef\u00bb\u00bf", "$-1\r\n", "*-1\r\n", "*0\r\n", "$536870912\r\n", "*2147483647\r\n",
			"*1048577\r\n", "$99999999999999999999\r\n", "[".repeat(200), "{\"a\":".repeat(100), "\"".repeat(9),
			"FLUSHALL\r\n", "*1\r\n$8\r\nFLUSHALL\r\n", "\nCONFIG SET maxmemory 1\n", "\"op\":\"EVAL\",", "EVAL,x,0\n",
			"[\"KEYS\",\"*\"]\n", "flushdb", "op,key,arg1\n", "key,key\n", "\u001f\u008b\b\0", "null", "\\x", "\\u",
			"x".repeat(5000));

	private HostileBodies() {
	}

	/**
	 * Tries bodies of a format, each with its seed.
	 * @param mediaType the format
	 * @param step 1 for all bodies, 5 for every fifth
	 * @param test checks each body
	 */
	public static void tryEach(String mediaType, int step, BiConsumer<Integer, byte[]> test) {
		int first = Integer.getInteger("fuzz.seed", 0);
		int bodies = Integer.getInteger("fuzz.bodies", 1_000);
		for (int seed = first; seed < first + bodies; seed += step) {
			try {
				test.accept(seed, body(mediaType, seed));
			}
			catch (RuntimeException | AssertionError ex) {
				throw new AssertionError(mediaType + ", replay with -Dfuzz.seed=" + seed + " -Dfuzz.bodies=1", ex);
			}
		}
	}

	/**
	 * Mutates bytes in a few places.
	 * @param bytes the bytes, which stay unchanged
	 * @param random chooses the mutations
	 * @return the mutated bytes; sometimes they are the same
	 */
	public static byte[] mutate(byte[] bytes, Random random) {
		byte[] mutated = bytes;
		for (int i = random.nextInt(4); i >= 0; i--) {
			int at = random.nextInt(mutated.length + 1);
			int length = Math.min(random.nextInt(12), mutated.length - at);
			ByteArrayOutputStream out = new ByteArrayOutputStream();
			out.write(mutated, 0, at);
			switch (random.nextInt(7)) {
				case 0 -> out.writeBytes(telling(random));
				case 1 -> out.write(random.nextInt(256));
				case 2 -> {
					out.write(mutated, at, length);
					out.write(mutated, at, length);
				}
				case 3 -> length = (random.nextInt(4) == 0) ? mutated.length - at : length;
				default -> {
					out.writeBytes(telling(random));
					length = 0;
				}
			}
			out.write(mutated, at + length, mutated.length - at - length);
			mutated = out.toByteArray();
		}
		return mutated;
	}

	private static byte[] body(String mediaType, int seed) {
		RecordWriter writer = new RecordWriter(seed);
		List<List<String>> commands = new ArrayList<>(writer.commands(seed % 2 == 0));
		if (seed % 7 == 0) {
			commands.add(0, List.of("FLUSHALL", "ASYNC"));
		}
		return mutate(writer.write(mediaType, commands).getBytes(StandardCharsets.ISO_8859_1), new Random(seed));
	}

	private static byte[] telling(Random random) {
		return TELLING.get(random.nextInt(TELLING.size())).getBytes(StandardCharsets.ISO_8859_1);
	}

}
