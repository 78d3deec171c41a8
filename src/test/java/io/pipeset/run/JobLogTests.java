package io.pipeset.run;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.keep.EndedJob;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryProperties;
import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Input;
import io.pipeset.report.JobReport.Sent;
import io.pipeset.report.Losses;
import io.pipeset.request.Client;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Many small jobs do not flood the log, and jobs with errors keep their lines. */
class JobLogTests {

	private static final Counts APPLIED = new Counts(3, 2, 1, 0, 0, 0);

	private static final Counts REJECTED = new Counts(3, 2, 0, 1, 0, 0);

	private static final MemoryShare memory = new MemoryBudget(new MemoryProperties(null), 1, Duration.ofMinutes(1),
			new SimpleMeterRegistry())
		.open(new JobStop());

	private final Client client = Client.anybody(false);

	private final JobLog log = new JobLog();

	private final Logger logger = (Logger) LoggerFactory.getLogger(JobLog.class);

	private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

	@BeforeEach
	void listen() {
		this.lines.start();
		this.logger.addAppender(this.lines);
		this.logger.setAdditive(false);
		this.logger.setLevel(Level.INFO);
	}

	@AfterEach
	void end() {
		this.logger.setLevel(null);
		this.logger.setAdditive(true);
		this.logger.detachAppender(this.lines);
	}

	@Test
	void sumsUpCompletedJobsBeyondTheMostLinesOfASecond() {
		completed(JobLog.MOST_LINES + 20);
		assertThat(messages()).hasSize(JobLog.MOST_LINES).allMatch((line) -> line.contains(" completed: client=none "));
		this.log.logSums();
		assertThat(messages()).last()
			.isEqualTo("20 more jobs completed within a second: client=none applied=40 noop=20");
		this.log.logSums();
		assertThat(messages()).hasSize(JobLog.MOST_LINES + 1);
	}

	@Test
	void hasALineForEachJobAgainInTheNextSecond() {
		completed(JobLog.MOST_LINES);
		this.log.logSums();
		completed(1);
		assertThat(messages()).hasSize(JobLog.MOST_LINES + 1).last().asString().startsWith("Job id completed: ");
	}

	@Test
	void keepsTheLinesOfJobsWithErrors() {
		completed(JobLog.MOST_LINES);
		this.log.jobEnded(job(REJECTED, Ending.COMPLETED), this.client, "SET", "feed 7", false);
		assertThat(messages()).last().asString().contains(" op=SET label='feed 7' received=");
		this.log.jobEnded(job(REJECTED, Ending.COMPLETED), this.client, "SET", null, false);
		assertThat(messages()).last().asString().contains(" rejected=1 ");
		this.log.jobEnded(job(APPLIED, new Ending(Cause.REDIS_LOST, "Redis is gone")), this.client, "SET", null, true);
		assertThat(messages()).hasSize(JobLog.MOST_LINES + 4)
			.contains("Job id did not complete, redis-lost: Redis is gone")
			.last()
			.asString()
			.startsWith("Job id failed: ");
	}

	@Test
	void countsTheLinesOfEachClient() {
		completed(JobLog.MOST_LINES);
		this.log.jobEnded(job(APPLIED, Ending.COMPLETED), Client.SERVICE, "SET", null, false);
		assertThat(messages()).hasSize(JobLog.MOST_LINES + 1).last().asString().contains(" client=service ");
	}

	private void completed(int jobs) {
		for (int i = 0; i < jobs; i++) {
			this.log.jobEnded(job(APPLIED, Ending.COMPLETED), this.client, "SET", null, false);
		}
	}

	private List<String> messages() {
		return this.lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	private static EndedJob<JobReport> job(Counts counts, Ending ending) {
		JobReport report = new JobReport("id", ending.cause().state(), counts, null, null, null,
				new Input(true, null, null), new Losses.Found(null, null, null), new JobClock().timings(), null,
				new Sent(3, 3, 90, 1), "localhost:6379/0", Map.of(), null, null, null, null, List.of(), Map.of(),
				List.of(), 0, false);
		return new EndedJob<>("id", report, ending, true, memory);
	}

}
