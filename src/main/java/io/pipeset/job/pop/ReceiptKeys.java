package io.pipeset.job.pop;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

import io.pipeset.record.Slots;

/**
 * The keys under which the receipts of one slot are kept in Redis. A script may use only
 * keys of one slot, so a receipt is in the slot of the list that its values come from. A
 * single server has no slots, and the same keys for all receipts.
 *
 * @param tag the hash tag that puts keys into the slot; empty on a single server
 */
record ReceiptKeys(int slot, String tag) {

	/** The keys on a single server. */
	static final ReceiptKeys OF_SERVER = new ReceiptKeys(0, "");

	/** The digits at the end of a job's id that name the slot of its receipt. */
	private static final int SLOT_DIGITS = 4;

	/** The keys in a slot of a cluster. */
	static ReceiptKeys ofSlot(int slot) {
		return new ReceiptKeys(slot, "{" + SlotTags.of(slot) + "}");
	}

	/** The keys in the slot that a job's id names. */
	static ReceiptKeys ofJob(String jobId) {
		int named = Integer.parseInt(jobId, jobId.length() - SLOT_DIGITS, jobId.length(), 16);
		return ofSlot(named % Slots.COUNT);
	}

	/** A job's id with the slot of a list in place of its last digits. */
	static String jobId(String jobId, byte[] list) {
		int slot = Slots.of(list, 0, list.length);
		return jobId.substring(0, jobId.length() - SLOT_DIGITS) + String.format(Locale.ROOT, "%04x", slot);
	}

	/** The receipts by their deadline, in milliseconds. */
	byte[] index() {
		return bytes((this.tag.isEmpty()) ? "pipeset:receipts" : "pipeset:receipts:" + this.tag);
	}

	/** The receipt itself: its state, and the key of the list to give back to. */
	byte[] receipt(String jobId) {
		return key("receipt", jobId);
	}

	/** The values popped, the last one first. */
	byte[] popped(String jobId) {
		return key("pop", jobId);
	}

	/** The same list once the receipt is claimed, to give the values back. */
	byte[] returning(String jobId) {
		return key("returning", jobId);
	}

	/** The keys of a receipt before it is claimed. */
	List<byte[]> unclaimed(String jobId) {
		return List.of(index(), receipt(jobId), popped(jobId));
	}

	/** All keys of a receipt, and the list that its values come from. */
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
