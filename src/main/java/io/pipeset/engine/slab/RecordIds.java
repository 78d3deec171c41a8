package io.pipeset.engine.slab;

import java.util.Arrays;

import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/** The ids that callers gave to a slab's records. Most records have none. */
final class RecordIds {

	/** Bytes of memory for an id in addition to its characters. */
	private static final int ID_BYTES = 64;

	/** The memory for ids is taken in steps of this many bytes. */
	private static final int STEP_BYTES = 16 << 10;

	private final MemoryReservation reservation;

	private @Nullable String[] ids = new String[0];

	private int bytes;

	private int reserved;

	RecordIds(MemoryReservation reservation) {
		this.reservation = reservation;
	}

	void clear() {
		Arrays.fill(this.ids, null);
		this.reservation.release(this.reserved);
		this.bytes = 0;
		this.reserved = 0;
	}

	/**
	 * Sets an id. Returns {@code false} if there is no memory for it. The first command's
	 * id takes no memory from the reservation.
	 */
	boolean set(int command, @Nullable String id) {
		if (id == null) {
			return true;
		}
		if (needsMemory(command, id)) {
			if (!this.reservation.tryReserve(STEP_BYTES)) {
				return false;
			}
			this.reserved += STEP_BYTES;
		}
		this.bytes += ID_BYTES + id.length();
		if (this.ids.length <= command) {
			this.ids = Arrays.copyOf(this.ids, Math.max(16, command * 2));
		}
		this.ids[command] = id;
		return true;
	}

	void reserve(int command, @Nullable String id) {
		if (id != null && needsMemory(command, id)) {
			this.reservation.reserve(STEP_BYTES);
			this.reserved += STEP_BYTES;
		}
	}

	private boolean needsMemory(int command, String id) {
		return this.bytes + ID_BYTES + id.length() > this.reserved && command > 0;
	}

	@Nullable String get(int command) {
		return (command < this.ids.length) ? this.ids[command] : null;
	}

	void move(int from, int to) {
		if (to < this.ids.length) {
			this.ids[to] = get(from);
		}
	}

}
