package io.pipeset.web.job;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Jobs that have ended have no file open, of which a process may have fewer than jobs.
 */
@ServiceTest(properties = "pipeset.spool.directory=target/spool/resting")
@EnabledOnOs(OS.LINUX)
class RestingJobTests {

	private final Service service;

	RestingJobTests(Service service) {
		this.service = service;
	}

	@Test
	void jobsThatHaveEndedWithItemsHaveNoFileOpen() throws IOException {
		for (int i = 0; i < 20; i++) {
			Answer taken = this.service.send(this.service.request("/v1/jobs")
				.header("Prefer", "respond-async")
				.header("Content-Type", Service.NDJSON)
				.POST(BodyPublishers.ofString("[\"SET\",\"a\",\"v\"]\n[\"NO\"]\n")));
			String job = taken.header("Location");
			await().until(() -> this.service.get(job).headers().firstValue("Retry-After").isEmpty());
			assertThat(this.service.get(job + "/items").text().lines()).hasSize(1);
		}
		assertThat(openFiles()).isEmpty();
	}

	private static List<Path> openFiles() throws IOException {
		Path spool = Path.of("target/spool/resting").toRealPath();
		try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
			return descriptors.flatMap(RestingJobTests::target)
				.filter((file) -> file.startsWith(spool) && !file.toString().endsWith(".lock"))
				.toList();
		}
	}

	/** The file that a descriptor stands for, if it is still open. */
	private static Stream<Path> target(Path descriptor) {
		try {
			return Stream.of(Files.readSymbolicLink(descriptor));
		}
		catch (IOException ex) {
			return Stream.empty();
		}
	}

}
