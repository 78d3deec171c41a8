package io.pipeset.record.csv;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

import com.sun.management.ThreadMXBean;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.format.Snapshot;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Cells after the last column need no memory. */
class CommaTests {

	private static final int COMMAS = 2 << 20;

	/** The memory of the row and of its growing buffer, in bytes. */
	private static final long MOST_ALLOCATED = 5L * COMMAS;

	@Test
	void aRowOfCommasIsCountedAndNotKept() throws IOException {
		RecordReader reader = RecordFormat.CSV.open(body("key,value\n"), Operation.SET, Limits.ofBytes(2 * COMMAS));
		Record record = new Record();
		long before = allocated();
		assertThat(reader.read(record)).isTrue();
		assertThat(allocated() - before).isLessThan(MOST_ALLOCATED);
		assertThat(record.rejection()).isEqualTo(
				new Rejection(Rejection.MALFORMED, "the header has 2 columns, and the row " + (COMMAS + 1) + " cells"));
		assertThat(reader.read(record)).isTrue();
		assertThat(record.rejection()).isNull();
		assertThat(record.text(1)).isEqualTo("v");
	}

	@Test
	void aHeaderOfCommasIsRefused() {
		RecordReader reader = RecordFormat.CSV.open(body(""), Operation.SET, Limits.ofBytes(2 * COMMAS));
		long before = allocated();
		assertThatExceptionOfType(MalformedBodyException.class).isThrownBy(() -> reader.read(new Record()))
			.withMessage("the header has more than 10000 columns");
		assertThat(allocated() - before).isLessThan(MOST_ALLOCATED);
	}

	private static InputStream body(String header) {
		byte[] commas = new byte[COMMAS];
		Arrays.fill(commas, (byte) ',');
		return new SequenceInputStream(Snapshot.latin1(header),
				new SequenceInputStream(new ByteArrayInputStream(commas), Snapshot.latin1("\nk,v\n")));
	}

	private static long allocated() {
		return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
	}

}
