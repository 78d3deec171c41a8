package io.pipeset.web.operator;

import java.io.IOException;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The service's own log has nothing of any body.
 */
@ServiceTest
class LoggedBodyTests {

	private static final String SECRET = "s3cret-of-a-caller";

	private final Service service;

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.pipeset");

	private final Logger ofJobs = (Logger) LoggerFactory.getLogger("io.pipeset.run");

	private final Level level = this.ofJobs.getLevel();

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	LoggedBodyTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void listen() {
		this.log.start();
		this.logger.addAppender(this.log);
		this.logger.setAdditive(false);
		this.ofJobs.setLevel(Level.INFO);
	}

	@AfterEach
	void end() {
		this.ofJobs.setLevel(this.level);
		this.logger.setAdditive(true);
		this.logger.detachAppender(this.log);
	}

	@Test
	void aTrailerThatIsNoneIsNotLogged() throws IOException {
		try (Wire wire = Wire.upload(this.service, "/v1/jobs")) {
			wire.chunk("[\"SET\",\"a\",\"" + SECRET + "\"]\n").send("0\r\n" + SECRET + " x\r\n\r\n");
			await().until(() -> this.log.list.size() >= 2);
		}
		assertThat(this.log.list).extracting(ILoggingEvent::getFormattedMessage)
			.anyMatch((message) -> message.contains("did not complete"))
			.noneMatch((message) -> message.contains(SECRET));
	}

}
