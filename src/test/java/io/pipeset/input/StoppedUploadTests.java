package io.pipeset.input;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.report.Ending.Cause;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The reader of an upload is woken once, even if its job is stopped many times. */
class StoppedUploadTests {

	@Test
	void aStopThatIsRepeatedStartsOneThreadToEndAnUpload() {
		AtomicInteger threads = new AtomicInteger();
		JobStop stop = new JobStop();
		Executor executor = (task) -> threads.incrementAndGet();
		StoppedUpload upload = new StoppedUpload(stop, executor, Caller.SERVICE);
		for (int slab = 0; slab < 1000; slab++) {
			stop.stop(Cause.STOPPED, "More records were rejected than maxErrors=0 allows");
		}
		stop.stop(Cause.INTERNAL_SERVER_ERROR, "defect");
		upload.end();
		assertThat(threads).hasValue(1);
		assertThat(stop.isSet()).isTrue();
	}

}
