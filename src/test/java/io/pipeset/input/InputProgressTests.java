package io.pipeset.input;

import java.io.IOException;
import java.time.Duration;

import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The ending of an input has its cause and says how many records were read. */
class InputProgressTests {

	private final InputProgress progress = new InputProgress();

	@Test
	void anInputThatIsReadToItsEndIsComplete() {
		this.progress.countRead();
		assertThat(this.progress.isComplete()).isFalse();
		this.progress.complete();
		assertThat(this.progress.isComplete()).isTrue();
		assertThat(this.progress.ending()).isEqualTo(Ending.COMPLETED);
		assertThat(this.progress.received()).isOne();
	}

	@Test
	void generatedRecordsThatWereNotReadCountAsReceived() {
		this.progress.countRead();
		this.progress.countRead();
		this.progress.uncountLast();
		assertThat(this.progress.countUnread(5)).isEqualTo(4);
		assertThat(this.progress.read()).isOne();
		assertThat(this.progress.unread()).isEqualTo(4);
		assertThat(this.progress.received()).isEqualTo(5);
	}

	@Test
	void anUploadHasNoUnreadRecords() {
		this.progress.countRead();
		assertThat(this.progress.countUnread(0)).isZero();
		assertThat(this.progress.received()).isOne();
	}

	@Test
	void eachEndingHasItsCauseAndTheNumberOfRecordsRead() {
		this.progress.countRead();
		this.progress.stalled(Duration.ofMillis(1500));
		assertThat(this.progress.ending().cause()).isEqualTo(Cause.STALLED);
		assertThat(this.progress.ending().detail()).contains("1500ms", "pipeset.limits.body-idle-timeout",
				"1 records had been read");
		this.progress.outOfMemory(new MemoryLimitException("no room"));
		assertThat(this.progress.ending()).isEqualTo(new Ending(Cause.LIMIT, "Record 1 cannot be read: no room"));
		this.progress.brokeOff(new IOException("reset"));
		assertThat(this.progress.ending())
			.isEqualTo(new Ending(Cause.CANCELLED, "The caller went away during its upload: reset"));
		this.progress.countMismatch(3, "only 2");
		assertThat(this.progress.ending())
			.isEqualTo(new Ending(Cause.COUNT_MISMATCH, "The path declares 3 records, and the body has only 2"));
	}

}
