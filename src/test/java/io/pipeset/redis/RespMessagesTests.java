package io.pipeset.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages are counted right, on which every place of a fault relies. */
class RespMessagesTests {

	private static final List<String> MESSAGES = List.of("+OK\r\n", "-ERR no -1 *2 $3\r\n", ":-12\r\n", "$-1\r\n",
			"$0\r\n\r\n", "$7\r\n\r\n*3\r\n+\r\n", "*-1\r\n", "*0\r\n", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
			"*3\r\n*2\r\n:1\r\n$1\r\na\r\n*0\r\n_\r\n", "%2\r\n+a\r\n:1\r\n$1\r\nb\r\n*2\r\n#t\r\n,1.5\r\n",
			"~2\r\n+a\r\n+b\r\n", ">3\r\n+message\r\n+c\r\n$2\r\nhi\r\n", "=8\r\ntxt:word\r\n", "(123456789\r\n");

	@Test
	void everyMessageEndsWithItsLastByte() {
		RespMessages messages = new RespMessages();
		List<Integer> ends = new ArrayList<>();
		List<Integer> expected = new ArrayList<>();
		byte[] all = String.join("", MESSAGES).getBytes(StandardCharsets.ISO_8859_1);
		int end = 0;
		for (String message : MESSAGES) {
			end += message.length();
			expected.add(end);
		}
		for (int i = 0; i < all.length; i++) {
			if (messages.endsWith(all[i])) {
				ends.add(i + 1);
			}
		}
		assertThat(ends).isEqualTo(expected);
	}

}
