package io.pipeset.input;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.memory.CountedReservation;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RowItemReaderTests {

	@Test
	void theMemoryOfARowIsReleasedAfterIt() throws IOException {
		String item = "{\"raw\":\"k," + "v".repeat(200_000)
				+ "\",\"settings\":{\"type\":\"text/csv\",\"op\":\"SET\",\"header\":\"key,value\"}}\n";
		AtomicLong held = new AtomicLong();
		RecordReader reader = RowItemReader.open(RecordFormat.NDJSON,
				new ByteArrayInputStream(item.repeat(50).getBytes(StandardCharsets.UTF_8)), null, Mapping.NONE,
				new RecordLimit(1 << 20, 1000, new CountedReservation(held, false)));
		Record record = new Record();
		long after = 0;
		for (int i = 0; i < 50; i++) {
			assertThat(reader.read(record)).isTrue();
			assertThat(record.rejection()).isNull();
			assertThat(record.index()).isEqualTo(i);
			after = (i == 1) ? held.get() : after;
		}
		assertThat(held.get()).isEqualTo(after);
		assertThat(reader.read(record)).isFalse();
	}

}
