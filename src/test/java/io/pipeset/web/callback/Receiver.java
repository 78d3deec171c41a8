package io.pipeset.web.callback;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A receiver of callbacks. It answers each path with the statuses that a test gives it,
 * one after the other, and then with 200. The status 0 holds the answer back until the
 * receiver ends; an answer of the status 201 never ends.
 */
final class Receiver implements AutoCloseable {

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private final HttpServer server;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final Queue<Post> posts = new ConcurrentLinkedQueue<>();

	private final Map<String, Queue<Integer>> answers = new ConcurrentHashMap<>();

	private final AtomicInteger refusedBodies = new AtomicInteger();

	private final CountDownLatch end = new CountDownLatch(1);

	/** Where answers of the status 302 lead to. */
	private volatile String elsewhere = "";

	private Receiver(HttpServer server) {
		this.server = server;
	}

	static Receiver open() {
		try {
			HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
			Receiver receiver = new Receiver(server);
			server.setExecutor(receiver.threads);
			server.createContext("/", receiver::handle);
			server.start();
			return receiver;
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** What the header has to have, by the text of the specification. */
	static String signature(Post post, String secret) {
		try {
			Mac mac = Mac.getInstance("HmacSHA256");
			mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.substring(6)), "HmacSHA256"));
			String signed = post.header("webhook-id") + "." + post.header("webhook-timestamp") + "." + post.body;
			return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	String url(String path) {
		return "http://127.0.0.1:" + this.server.getAddress().getPort() + path;
	}

	void answer(String path, Integer... statuses) {
		this.answers.put(path, new ConcurrentLinkedQueue<>(List.of(statuses)));
	}

	void leadTo(String elsewhere) {
		this.elsewhere = elsewhere;
	}

	/** The posts to a path so far. */
	List<Post> posts(String path) {
		return this.posts.stream().filter((post) -> post.path.equals(path)).toList();
	}

	/** Waits for the first post to a path, or for a later one. */
	Post await(String path, int number) {
		Awaitility.await().until(() -> posts(path).size() >= number);
		return posts(path).get(number - 1);
	}

	private void handle(HttpExchange exchange) throws IOException {
		try (exchange) {
			Post post = new Post(exchange.getRequestURI().getPath(),
					String.valueOf(exchange.getRequestURI().getRawQuery()), exchange.getRequestMethod(),
					Map.copyOf(exchange.getRequestHeaders()),
					new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
			Queue<Integer> left = this.answers.getOrDefault(post.path, new ConcurrentLinkedQueue<>());
			Integer status = left.poll();
			this.posts.add(post);
			if (status != null && status == 0) {
				this.end.await();
			}
			exchange.getResponseHeaders().set("Location", this.elsewhere);
			boolean endless = status != null && status == 201;
			exchange.sendResponseHeaders((status != null && status > 0) ? status : 200, (endless) ? 0 : -1);
			if (endless) {
				writeEndlessly(exchange);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void writeEndlessly(HttpExchange exchange) {
		try {
			while (this.end.getCount() > 0) {
				exchange.getResponseBody().write(new byte[1 << 20]);
			}
		}
		catch (IOException ex) {
			this.refusedBodies.incrementAndGet();
		}
	}

	/** How many endless answers the sender has cut off. */
	int refusedBodies() {
		return this.refusedBodies.get();
	}

	@Override
	public void close() {
		this.end.countDown();
		this.server.stop(0);
		this.threads.shutdownNow();
	}

	/** A request that the receiver has got. */
	record Post(String path, String query, String method, Map<String, List<String>> headers, String body) {

		String header(String name) {
			return this.headers.entrySet()
				.stream()
				.filter((header) -> header.getKey().equalsIgnoreCase(name))
				.flatMap((header) -> header.getValue().stream())
				.findFirst()
				.orElse("");
		}

		JsonNode json() {
			return mapper.readTree(this.body);
		}

		List<String> signatures() {
			return Stream.of(header("webhook-signature").split(" ", -1)).toList();
		}

	}

}
