package io.pipeset.web.callback;

import java.net.http.HttpRequest.BodyPublishers;

import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** A client has callbacks only under URLs that its policy and the service both allow. */
@ServiceTest(properties = { ServiceTest.KEY + "=key-of-billing", "spring.data.redis.database=7",
		"pipeset.callbacks.secret=" + CallbackTests.SECRETS,
		"pipeset.clients.billing.key-sha256=f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6",
		"pipeset.clients.orders.key-sha256=9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144" })
class CallbackClientTests {

	private static final Receiver receiver = Receiver.open();

	private final Service billing;

	private final Service orders;

	CallbackClientTests(Service service) {
		this.billing = service;
		this.orders = service.as("key-of-orders");
	}

	@DynamicPropertySource
	static void allow(DynamicPropertyRegistry properties) {
		properties.add("pipeset.callbacks.allowed", () -> receiver.url("/hooks/"));
		properties.add("pipeset.clients.billing.callbacks",
				() -> receiver.url("/hooks/billing") + "," + receiver.url("/other"));
	}

	@AfterAll
	static void close() {
		receiver.close();
	}

	@Test
	void aClientHasCallbacksUnderItsUrls() {
		Answer answer = begin(this.billing, "/hooks/billing/jobs");
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		assertThat(receiver.await("/hooks/billing/jobs", 1).json().get("state").asString()).isEqualTo("completed");
	}

	@Test
	void aClientHasNoOthers() {
		assertThat(begin(this.billing, "/hooks/orders").refusal(403, "forbidden")).contains("'billing'",
				"pipeset.clients.billing.callbacks", receiver.url("/hooks/billing"));
		assertThat(begin(this.billing, "/other").refusal(403, "forbidden")).contains("pipeset.callbacks.allowed");
	}

	@Test
	void aClientWithoutUrlsHasNone() {
		assertThat(begin(this.orders, "/hooks/orders").refusal(403, "forbidden")).contains("'orders'",
				"pipeset.clients.orders.callbacks", "none");
	}

	private static Answer begin(Service service, String path) {
		return service.send(service.request("/v1/jobs?dryRun=true&op=SET&callback=" + receiver.url(path))
			.header("Prefer", "respond-async")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString("[\"SET\",\"order:1\",\"v\"]\n")));
	}

}
