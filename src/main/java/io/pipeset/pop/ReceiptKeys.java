package io.pipeset.pop;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** The keys under which a receipt is kept in Redis. */
final class ReceiptKeys {

	/** The receipts by their deadline, in milliseconds. */
	static final byte[] RECEIPTS = bytes("pipeset:receipts");

	private ReceiptKeys() {
	}

	/** The receipt itself: its state, and the key of the list to give back to. */
	static byte[] receipt(String jobId) {
		return bytes("pipeset:receipt:" + jobId);
	}

	/** The values popped, the last one first. */
	static byte[] popped(String jobId) {
		return bytes("pipeset:pop:" + jobId);
	}

	/** The same list once the receipt is claimed, to give the values back. */
	static byte[] returning(String jobId) {
		return bytes("pipeset:returning:" + jobId);
	}

	static List<byte[]> all(String jobId, byte[] key) {
		return List.of(RECEIPTS, receipt(jobId), popped(jobId), returning(jobId), key);
	}

	static List<byte[]> own(String jobId) {
		return List.of(RECEIPTS, receipt(jobId), popped(jobId), returning(jobId));
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
