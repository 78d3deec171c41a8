import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.stream.Stream;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/**
 * Receives the callbacks of jobs, and verifies their signatures.
 *
 * <pre>
 * PIPESET_CALLBACK_SECRET=whsec_... java Receive.java 8081
 * </pre>
 *
 * Needs Java 17 or later, and nothing else. It prints the report of each job that has ended.
 */
class Receive {

	private static final byte[] secret = Base64.getDecoder()
		.decode(System.getenv("PIPESET_CALLBACK_SECRET").replaceFirst("^whsec_", ""));

	public static void main(String[] args) throws IOException {
		HttpServer server = HttpServer
			.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])), 0);
		server.createContext("/", Receive::receive);
		server.start();
	}

	private static void receive(HttpExchange exchange) throws IOException {
		try (exchange) {
			byte[] body = exchange.getRequestBody().readAllBytes();
			boolean signed = isSigned(exchange.getRequestHeaders(), body);
			if (signed) {
				// The same report may come twice, with the same webhook-id.
				System.out.println(exchange.getRequestHeaders().getFirst("webhook-id") + " "
						+ new String(body, StandardCharsets.UTF_8));
			}
			exchange.sendResponseHeaders((signed) ? 204 : 401, -1);
		}
	}

	/** Whether the secret signed the body within the last five minutes, so that nobody can send an old one again. */
	private static boolean isSigned(Headers headers, byte[] body) {
		try {
			String sent = headers.getFirst("webhook-timestamp");
			if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(sent)) > 300) {
				return false;
			}
			Mac mac = Mac.getInstance("HmacSHA256");
			mac.init(new SecretKeySpec(secret, "HmacSHA256"));
			mac.update((headers.getFirst("webhook-id") + "." + sent + ".").getBytes(StandardCharsets.UTF_8));
			byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
			return Stream.of(headers.getFirst("webhook-signature").split(" "))
				.anyMatch((value) -> MessageDigest.isEqual(value.getBytes(StandardCharsets.UTF_8), expected));
		}
		catch (GeneralSecurityException | RuntimeException ex) {
			return false;
		}
	}

}
