package io.pipeset.web.replica;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.Map;

import io.pipeset.keep.JobRecorder;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** Begins asynchronous jobs, and looks at them. */
final class AsyncCalls {

	static final String ENDLESS = "/v1/jobs?rateLimit=1";

	static final String LINES = "[\"SET\",\"k\",\"v\"]\n".repeat(1000);

	private AsyncCalls() {
	}

	static Answer async(Service service, String call, @Nullable String body) {
		return service.send(preferring(service, call, body));
	}

	static HttpRequest.Builder preferring(Service service, String call, @Nullable String body) {
		HttpRequest.Builder request = service.request(call).header("Prefer", "respond-async");
		return (body != null) ? request.header("Content-Type", Service.NDJSON).POST(BodyPublishers.ofString(body))
				: request.POST(BodyPublishers.noBody());
	}

	static String id(Answer taken) {
		assertThat(taken.status()).as(taken.text()).isEqualTo(202);
		return taken.json().get("jobId").asString();
	}

	static JsonNode look(Service service, String id) {
		Answer answer = service.get("/v1/jobs/" + id);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		return answer.json();
	}

	/** The same report, but for the name of the instance. */
	static void assertSame(JsonNode recorded, JsonNode own) {
		ObjectNode without = (ObjectNode) new JsonMapper().readTree(recorded.toString());
		without.remove("instance");
		assertThat((JsonNode) without).isEqualTo(new JsonMapper().readTree(own.toString()));
	}

	/** The jobs that a recorder keeps, by their ids. */
	static Map<?, ?> kept(JobRecorder recorder) {
		return (Map<?, ?>) ReflectionTestUtils.getField(recorder, "jobs");
	}

	/** Cancels what runs at these instances. */
	static void cancelAll(Service... services) {
		for (Service service : List.of(services)) {
			service.get("/v1/jobs?state=running")
				.json()
				.get("jobs")
				.forEach((job) -> service.delete("/v1/jobs/" + job.get("jobId").asString()));
		}
	}

}
