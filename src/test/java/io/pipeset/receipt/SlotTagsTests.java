package io.pipeset.receipt;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The keys of a receipt are in the slot of its list, for any key of the list. */
class SlotTagsTests {

	private static final String JOB = "0199a6f2-0000-7000-8000-00000000beef";

	@Test
	void everySlotHasATagOfItsOwn() {
		for (int slot = 0; slot < SlotHash.SLOT_COUNT; slot++) {
			assertThat(SlotTags.of(slot)).hasSizeBetween(1, 4);
			assertThat(SlotHash.getSlot(ReceiptKeys.ofSlot(slot).index())).isEqualTo(slot);
		}
	}

	/** Receipts are found by them even if another version of the service wrote them. */
	@Test
	void tagsStayTheSame() {
		assertThat(IntStream.of(0, 1, 8191, 16383).mapToObj(SlotTags::of)).containsExactly("1bz", "emj", "7ho", "hia");
	}

	@Test
	void allKeysOfAReceiptAreInTheSlotOfItsList() {
		for (byte[] list : List.of(bytes("queue"), bytes("a{b}c"), bytes("{}"), bytes("{"), bytes("}"), bytes("{}a{b}"),
				bytes("{a"), bytes("a}b{"), bytes(""), new byte[] { 0, '{', (byte) 0xff, '\r', '\n', '}', 0 },
				new byte[] { (byte) 0x80, '{', '{', '}', '}' })) {
			String id = ReceiptKeys.jobId(JOB, list);
			assertThat(id).hasSameSizeAs(JOB).startsWith(JOB.substring(0, 32)).matches("[0-9a-f-]+");
			assertThat(ReceiptKeys.ofJob(id).all(id, list))
				.allMatch((key) -> SlotHash.getSlot(key) == SlotHash.getSlot(list));
		}
	}

	/** Callers may send any id, and most ids have no receipt. */
	@Test
	void anIdWithoutASlotIsMappedToOne() {
		assertThat(ReceiptKeys.ofJob(JOB).slot()).isBetween(0, SlotHash.SLOT_COUNT - 1);
	}

	@Test
	void aSingleServerHasTheKeysThatItAlwaysHad() {
		assertThat(ReceiptKeys.OF_SERVER.all("id", bytes("queue")))
			.extracting((key) -> new String(key, StandardCharsets.UTF_8))
			.containsExactly("pipeset:receipts", "pipeset:receipt:id", "pipeset:pop:id", "pipeset:returning:id",
					"queue");
	}

	private static byte[] bytes(String key) {
		return key.getBytes(StandardCharsets.UTF_8);
	}

}
