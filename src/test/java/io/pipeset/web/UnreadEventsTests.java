package io.pipeset.web;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.SmallBuffers;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A subscriber that does not read delays no other subscriber, and is removed. */
@ServiceTest(properties = "pipeset.limits.body-idle-timeout=5s")
@Import(SmallBuffers.class)
class UnreadEventsTests {

	private final Service service;

	private final JobEvents events;

	UnreadEventsTests(Service service, @Autowired JobEvents events) {
		this.service = service;
		this.events = events;
	}

	@Test
	void aSubscriberThatDoesNotReadIsRemovedAndOthersReceiveTheEnd() throws Exception {
		CompletableFuture<Answer> job = this.service
			.sendAsync(this.service.request("/pipeset/1000000?rateLimit=1").POST(BodyPublishers.noBody()));
		String path = "/v1/jobs/" + this.service.awaitJob("running");
		CompletableFuture<Answer> other = this.service.sendAsync(this.service.request(path + "/events").GET());
		await().until(() -> this.events.count() == 1);
		try (Wire deaf = Wire.open(this.service, "GET " + path + "/events HTTP/1.1",
				"Host: 127.0.0.1:" + this.service.port(), "Accept: text/event-stream")) {
			assertThat(deaf.line()).isEqualTo("HTTP/1.1 200 ");
			await().until(() -> this.events.count() == 2);
			// Fills the network's buffers, as the events of a long job would.
			await().pollInterval(10, TimeUnit.MILLISECONDS).until(() -> {
				for (int i = 0; i < 10_000; i++) {
					this.events.tick();
				}
				return this.events.count() == 1;
			});
			assertThat(other).isNotDone();
			this.service.delete(path);
			assertThat(other.get(1, TimeUnit.MINUTES).text()).contains("event:end");
			job.get(1, TimeUnit.MINUTES).job(409, "cancelled", "cancelled");
		}
		await().until(() -> this.events.count() == 0);
	}

}
