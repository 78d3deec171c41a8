package io.pipeset.keyspace;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.netty.buffer.Unpooled;
import io.pipeset.engine.slab.lookup.KeyLookup;
import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.engine.slab.lookup.KeyTypes;
import io.pipeset.engine.slab.lookup.Scan;
import io.pipeset.record.memory.MemoryReservation;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Totals exist for every known type, also if all of its keys had vanished.
 */
class TotalsTests {

	private final KeyTypes types = new KeyTypes();

	private final Totals totals = new Totals(AnalysisSettings.of((name) -> null, Duration.ofSeconds(1)), 10, this.types,
			MemoryReservation.UNLIMITED);

	@Test
	void aTypeWhoseKeysWereNotCountedHasNoBytes() {
		KeyPage page = new KeyPage(MemoryReservation.UNLIMITED);
		StringBuilder replies = new StringBuilder("*2\r\n$1\r\n0\r\n*3\r\n" + "$1\r\nk\r\n".repeat(3));
		for (int key = 0; key < 3; key++) {
			replies.append("+module").append(key).append("\r\n$-1\r\n:-2\r\n");
		}
		new KeyLookup(this.types).scan(new Scan(null, null, 3), Scan.START, page, () -> {
		}).keys(page, 0, 3, 5).read(Unpooled.wrappedBuffer(replies.toString().getBytes(StandardCharsets.US_ASCII)));
		this.totals.add(page);
		assertThat(this.totals.vanished()).isEqualTo(3);
		for (int type = 0; type < this.types.count(); type++) {
			assertThat(this.totals.keysOfType(type)).isZero();
			assertThat(this.totals.bytesOfType(type)).isZero();
		}
	}

}
