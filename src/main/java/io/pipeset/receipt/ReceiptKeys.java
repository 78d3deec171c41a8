package io.pipeset.receipt;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

import io.pipeset.record.Slots;

/**
 * The Redis keys of the receipts in one slot. A script may only use keys of one slot, so
 * a receipt is in the slot of the list from which its values were popped. On a single
 * server all receipts share one set of keys.
 *
 * @param tag the hash tag that puts keys into the slot; empty on a single server
 */
record ReceiptKeys(int slot, String tag) {

	/** The keys on a single server. */
	static final ReceiptKeys OF_SERVER = new ReceiptKeys(0, "");

	/** How many digits at the end of a job's id are the slot of its receipt. */
	private static final int SLOT_DIGITS = 4;

	/** The keys in a slot of a cluster. */
	static ReceiptKeys ofSlot(int slot) {
		return new ReceiptKeys(slot, "{" + SlotTags.of(slot) + "}");
	}

	/** The keys in the slot at the end of a job's id. */
	static ReceiptKeys ofJob(String jobId) {
		int named = Integer.parseInt(jobId, jobId.length() - SLOT_DIGITS, jobId.length(), 16);
		return ofSlot(named % Slots.COUNT);
	}

	/** A job's id whose last digits are replaced by the slot of a list. */
	static String jobId(String jobId, byte[] list) {
		int slot = Slots.of(list, 0, list.length);
		return jobId.substring(0, jobId.length() - SLOT_DIGITS) + String.format(Locale.ROOT, "%04x", slot);
	}

	/** A sorted set: job ids by the deadline of their receipt, in milliseconds. */
	byte[] index() {
		return bytes((this.tag.isEmpty()) ? "pipeset:receipts" : "pipeset:receipts:" + this.tag);
	}

	/** A hash, the receipt: its state, its client, and the key of its list. */
	byte[] receipt(String jobId) {
		return key("receipt", jobId);
	}

	/** A list: the popped values, the last one first. */
	byte[] popped(String jobId) {
		return key("pop", jobId);
	}

	/** The name of that list after the receipt is claimed, to give the values back. */
	byte[] returning(String jobId) {
		return key("returning", jobId);
	}

	/** The keys of a receipt before it is claimed. */
	List<byte[]> unclaimed(String jobId) {
		return List.of(index(), receipt(jobId), popped(jobId));
	}

	/** All keys of a receipt, and the list that its values came from. */
	List<byte[]> all(String jobId, byte[] list) {
		return List.of(index(), receipt(jobId), popped(jobId), returning(jobId), list);
	}

	private byte[] key(String kind, String jobId) {
		return bytes("pipeset:" + kind + ":" + this.tag + ((this.tag.isEmpty()) ? "" : ":") + jobId);
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
