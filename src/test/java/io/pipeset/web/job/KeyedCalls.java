package io.pipeset.web.job;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.UUID;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.Wire;
import org.jspecify.annotations.Nullable;

/** Sends requests with an Idempotency-Key, which is another one in each test. */
abstract class KeyedCalls {

	static final String PUSH = "[\"RPUSH\",\"list\",\"v\"]\n";

	final Service here;

	final RedisCommands<String, String> redis = TestRedis.shared().client();

	String key = UUID.randomUUID().toString();

	KeyedCalls(Service service) {
		this.here = service;
	}

	/** Begins an upload, whose records come later. */
	final Wire open(Service service) throws IOException {
		return open(service, "/v1/jobs");
	}

	final Wire open(Service service, String call, String... headers) throws IOException {
		return Wire.post(service, call,
				Stream.concat(Stream.of("Idempotency-Key: " + this.key, "Content-Type: application/x-ndjson",
						"Transfer-Encoding: chunked"), Stream.of(headers))
					.toArray(String[]::new));
	}

	final HttpRequest.Builder request(Service service, String call) {
		return service.request(call).header("Idempotency-Key", this.key);
	}

	final Answer send(Service service, String call, @Nullable String body) {
		HttpRequest.Builder request = request(service, call);
		return service
			.send((body != null) ? request.header("Content-Type", Service.NDJSON).POST(BodyPublishers.ofString(body))
					: request.POST(BodyPublishers.noBody()));
	}

}
