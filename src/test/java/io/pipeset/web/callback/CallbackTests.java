package io.pipeset.web.callback;

import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.callback.Receiver.Post;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The report of a job that has ended is posted to the URL of its caller, signed, until it
 * is accepted.
 */
@ServiceTest(properties = { "pipeset.callbacks.secret=" + CallbackTests.SECRETS,
		"management.endpoints.web.exposure.include=*" })
class CallbackTests {

	static final String SECRETS = "whsec_bmV3LnNlY3JldC5vZi50aGlydHktdHdvLmJ5dGVzLi4=,"
			+ "whsec_b2xkLnNlY3JldC5vZi50aGlydHktdHdvLmJ5dGVzLi4=";

	private static final RedisClient client = RedisClient.create(TestRedis.shared().controlUri());

	private static final RedisCommands<String, String> control = client.connect().sync();

	private static final Receiver receiver = Receiver.open();

	private static final Receiver foreign = Receiver.open();

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.pipeset.keep");

	/** Each test has a path of its own. */
	private final String path = "/hooks/" + UUID.randomUUID();

	private final Service service;

	CallbackTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void allow(DynamicPropertyRegistry properties) {
		properties.add("pipeset.callbacks.allowed", () -> receiver.url("/hooks/"));
	}

	@BeforeEach
	void listen() {
		this.log.start();
		this.logger.setLevel(Level.DEBUG);
		this.logger.setAdditive(false);
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void stopListening() {
		this.logger.detachAppender(this.log);
		this.logger.setAdditive(true);
		this.logger.setLevel(Level.ERROR);
	}

	@AfterAll
	static void close() {
		receiver.close();
		foreign.close();
		client.shutdown();
	}

	@Test
	void theReportWithoutItsListsIsPostedAndSigned() {
		String id = begin("/v1/jobs?results=all&label=feed", "[\"SET\",\"k\",\"v\"]\n[\"SET\",\"k\"]\n");
		Post post = receiver.await(this.path, 1);
		assertThat(post.method()).isEqualTo("POST");
		assertThat(post.header("content-type")).isEqualTo("application/json");
		assertThat(post.header("user-agent")).isEqualTo("Pipeset");
		assertThat(post.header("webhook-id")).isEqualTo(id);
		assertThat(Long.parseLong(post.header("webhook-timestamp"))).isBetween(System.currentTimeMillis() / 1000 - 60,
				System.currentTimeMillis() / 1000);
		assertThat(post.signatures()).containsExactly(List.of(SECRETS.split(",", -1))
			.stream()
			.map((secret) -> Receiver.signature(post, secret))
			.toArray(String[]::new));
		awaitCallback(id, "delivered", 1);
		ObjectNode look = (ObjectNode) this.service.get("/v1/jobs/" + id).json();
		assertThat(look.get("items")).hasSize(2);
		look.remove(List.of("callback", "items", "itemsOmitted"));
		ObjectNode body = (ObjectNode) post.json();
		assertThat(body.remove("items")).isEmpty();
		assertThat(body.remove("itemsOmitted").asInt()).isEqualTo(2);
		body.remove("instance");
		assertThat(body).isEqualTo(look);
		assertThat(body.at("/label").asString()).isEqualTo("feed");
		assertThat(receiver.posts(this.path)).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v1/jobs?from=scan&match=none:*&op=UNLINK", "/v1/jobs?dryRun=true&op=SET",
			"/pipeset/3?results=all", "/listinput/list?count=2", "/piperpop/1?key=none&reliable=true" })
	void allCallsOfRecordsHaveOne(String call) {
		String id = begin(call, (call.contains("dryRun")) ? "[\"SET\",\"k\",\"v\"]\n" : null);
		Post post = receiver.await(this.path, 1);
		assertThat(post.json().get("jobId").asString()).isEqualTo(id);
		assertThat(post.json().get("state").asString()).isEqualTo("completed");
		assertThat(post.json().has("values")).isFalse();
	}

	@Test
	void aReportThatIsNotAcceptedIsSentAgainWithTheSameId() {
		receiver.answer(this.path, 500, 503);
		String id = begin("/pipeset/1", null);
		receiver.await(this.path, 1);
		awaitCallback(id, "pending", 1);
		assertThat(callback(id).get("lastError").asString()).isEqualTo("The receiver answered 500");
		assertThat(nextAttempt(id)).isLessThanOrEqualTo(5000);
		makeDue(id);
		awaitCallback(id, "pending", 2);
		assertThat(nextAttempt(id)).isLessThanOrEqualTo(10_000);
		makeDue(id);
		awaitCallback(id, "delivered", 3);
		assertThat(callback(id).has("lastError")).isFalse();
		assertThat(receiver.posts(this.path)).hasSize(3)
			.allMatch((post) -> post.header("webhook-id").equals(id)
					&& post.signatures().contains(Receiver.signature(post, SECRETS.split(",", -1)[0])))
			.extracting(Post::body)
			.containsOnly(receiver.posts(this.path).get(0).body());
		assertThat(control.zscore(due(), id + "none")).isNull();
	}

	@Test
	void aRedirectIsNotFollowed() {
		receiver.leadTo(foreign.url(this.path));
		receiver.answer(this.path, 307);
		String id = begin("/pipeset/1", null);
		awaitCallback(id, "pending", 1);
		assertThat(callback(id).get("lastError").asString())
			.isEqualTo("The receiver answered 307, and redirects are not followed");
		makeDue(id);
		awaitCallback(id, "delivered", 2);
		assertThat(foreign.posts(this.path)).isEmpty();
	}

	@Test
	void aReceiverThatIsGoneGetsNothingMore() {
		receiver.answer(this.path, 410);
		String id = begin("/pipeset/1", null);
		awaitCallback(id, "failed", 1);
		assertThat(control.zscore(due(), id + "none")).isNull();
		assertThat(warnings()).singleElement()
			.asString()
			.contains(id, receiver.url(this.path).substring(7), "410")
			.doesNotContain("token");
	}

	@Test
	void aReportIsGivenUpAnHourAfterItsFirstAttempt() {
		receiver.answer(this.path, 500, 500);
		String id = begin("/pipeset/1", null);
		awaitCallback(id, "pending", 1);
		control.hset(TestRedis.shared().controlKey("job", id), "callbackFirst",
				Long.toString(System.currentTimeMillis() - 3_600_000));
		makeDue(id);
		awaitCallback(id, "failed", 2);
		assertThat(control.zscore(due(), id + "none")).isNull();
		assertThat(warnings()).singleElement().asString().contains(id, "after 2 attempts", "500");
	}

	@Test
	void aReceiverThatDoesNotAnswerHoldsNothing() {
		String hanging = this.path + "/hanging";
		receiver.answer(hanging, 0);
		Answer accepted = begin("/pipeset/1", null, receiver.url(hanging));
		String held = accepted.json().get("jobId").asString();
		receiver.await(hanging, 1);
		assertThat(this.service.get("/v1/jobs/" + held).json().get("state").asString()).isEqualTo("completed");
		String id = begin("/pipeset/1", null);
		awaitCallback(id, "delivered", 1);
		assertThat(callback(held).get("state").asString()).isEqualTo("pending");
	}

	@Test
	void theBodyOfAnAnswerIsNotRead() {
		receiver.answer(this.path, 201);
		String id = begin("/pipeset/1", null);
		awaitCallback(id, "delivered", 1);
		await().until(() -> receiver.refusedBodies() == 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "http://127.0.0.1/hooks/a", "%s/hooks", "%s/other", "%s/hooks/../other",
			"%s/hooks/%%2e%%2e/other", "https://hooks.example" })
	void aUrlThatIsNotAllowedIsRefused(String url) {
		Answer answer = begin("/pipeset/1", null, url.formatted(receiver.url("")) + "?token=secret-of-caller");
		assertThat(answer.refusal(403, "forbidden")).contains("pipeset.callbacks.allowed")
			.doesNotContain("secret-of-caller");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "hooks", "http://user:secret-of-caller@127.0.0.1/hooks/",
			"http://127.0.0.1/hooks/#secret-of-caller", "http://127.0.0.1\\secret-of-caller", "ftp://127.0.0.1/" })
	void aTextThatIsNoUrlIsRefusedAndNotShown(String url) {
		assertThat(begin("/pipeset/1", null, url).refusal(400, "invalid-setting")).contains("'callback' must be")
			.doesNotContain("secret-of-caller");
	}

	@Test
	void aCallerThatWaitsHasNoCallback() {
		Answer answer = this.service.post("/pipeset/1?callback=" + receiver.url(this.path));
		assertThat(answer.refusal(400, "invalid-setting")).contains("'callback'", "Prefer: respond-async");
	}

	@Test
	void theQueryAndTheSecretAreShownNowhere() {
		String id = begin("/v1/jobs?op=SET", "[\"SET\",\"k\",\"v\"]\n");
		Post post = receiver.await(this.path, 1);
		assertThat(post.query()).isEqualTo("token=secret-of-caller");
		awaitCallback(id, "delivered", 1);
		assertThat(this.service.get("/v1/jobs/" + id).json().at("/settings/callback").asString())
			.isEqualTo(receiver.url(this.path));
		for (String shown : List.of(post.body(), this.service.get("/v1/jobs/" + id).text(),
				this.service.get("/v1/jobs").text(), this.service.get("/actuator/configprops").text(),
				this.service.get("/actuator/env").text(), this.service.get("/actuator/pipeset").text(),
				this.log.list.stream().map(ILoggingEvent::getFormattedMessage).toList().toString())) {
			assertThat(shown).isNotEmpty().doesNotContain("secret-of-caller", SECRETS.substring(0, 30));
		}
	}

	private List<String> warnings() {
		return this.log.list.stream()
			.filter((event) -> event.getLevel() == Level.WARN)
			.map(ILoggingEvent::getFormattedMessage)
			.filter((message) -> message.contains("The report of job"))
			.toList();
	}

	private String begin(String call, @Nullable String body) {
		Answer answer = begin(call, body, receiver.url(this.path) + "?token=secret-of-caller");
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.json().get("jobId").asString();
	}

	private Answer begin(String call, @Nullable String body, String url) {
		String callback = "callback=" + URLEncoder.encode(url, StandardCharsets.UTF_8);
		HttpRequest.Builder request = this.service.request(call + ((call.contains("?")) ? "&" : "?") + callback)
			.header("Prefer", "respond-async");
		return this.service
			.send((body != null) ? request.header("Content-Type", Service.NDJSON).POST(BodyPublishers.ofString(body))
					: request.POST(BodyPublishers.noBody()));
	}

	private void awaitCallback(String id, String state, int attempts) {
		await().untilAsserted(() -> {
			assertThat(callback(id).path("state").asString("")).isEqualTo(state);
			assertThat(callback(id).get("attempts").asInt()).isEqualTo(attempts);
		});
	}

	private JsonNode callback(String id) {
		return this.service.get("/v1/jobs/" + id).json().path("callback");
	}

	private static String due() {
		return TestRedis.shared().controlKey("callbacks", "due");
	}

	/** The milliseconds until the next attempt. */
	private long nextAttempt(String id) {
		return control.zscore(due(), id + "none").longValue() - System.currentTimeMillis();
	}

	/** Ends the pause before the next attempt. */
	private void makeDue(String id) {
		control.zadd(due(), 0, id + "none");
	}

}
