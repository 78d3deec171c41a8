package io.pipeset.engine.slab;

import java.util.Arrays;

import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/** The names that callers gave to a slab's records; most records have none. */
final class RecordIds {

	/** The bytes that an id takes beside its letters. */
	private static final int ID_BYTES = 64;

	/** The memory for ids is taken in steps of so many bytes. */
	private static final int STEP_BYTES = 16 << 10;

	private final MemoryReservation room;

	private @Nullable String[] ids = new String[0];

	private int bytes;

	private int taken;

	RecordIds(MemoryReservation room) {
		this.room = room;
	}

	void clear() {
		Arrays.fill(this.ids, null);
		this.room.give(this.taken);
		this.bytes = 0;
		this.taken = 0;
	}

	/**
	 * Sets an id; {@code false} where there is no memory for it. The first id always has
	 * some.
	 */
	boolean set(int command, @Nullable String id) {
		if (id == null) {
			return true;
		}
		if (isShort(command, id)) {
			if (!this.room.tryTake(STEP_BYTES)) {
				return false;
			}
			this.taken += STEP_BYTES;
		}
		this.bytes += ID_BYTES + id.length();
		if (this.ids.length <= command) {
			this.ids = Arrays.copyOf(this.ids, Math.max(16, command * 2));
		}
		this.ids[command] = id;
		return true;
	}

	/** Waits for the memory of an id. */
	void makeRoom(int command, @Nullable String id) {
		if (id != null && isShort(command, id)) {
			this.room.take(STEP_BYTES);
			this.taken += STEP_BYTES;
		}
	}

	private boolean isShort(int command, String id) {
		return this.bytes + ID_BYTES + id.length() > this.taken && command > 0;
	}

	@Nullable String get(int command) {
		return (command < this.ids.length) ? this.ids[command] : null;
	}

	/** Moves an id, or its absence, to the front with its command. */
	void move(int from, int to) {
		if (to < this.ids.length) {
			this.ids[to] = get(from);
		}
	}

}
