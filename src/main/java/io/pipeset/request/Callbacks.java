package io.pipeset.request;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import io.pipeset.request.JobRefusedException.Reason;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * The rules for callbacks: the URLs that may get the reports of ended jobs, and the
 * signatures of <a href="https://www.standardwebhooks.com">Standard Webhooks</a>.
 */
@Component
public final class Callbacks {

	private static final String ALLOWED = "pipeset.callbacks.allowed";

	private static final String SECRET_PREFIX = "whsec_";

	private static final int MIN_SECRET_BYTES = 24;

	private static final int MAX_SECRET_BYTES = 64;

	private final UrlPrefixes allowed;

	private final List<SecretKeySpec> secrets;

	/**
	 * Creates the rules from their properties.
	 * @throws RefusedAccessException if a property has a wrong value
	 */
	Callbacks(CallbackProperties properties) {
		this.allowed = prefixes(ALLOWED, properties.allowed());
		this.secrets = properties.secret().stream().map(Callbacks::secret).toList();
		if (!this.allowed.isEmpty() && this.secrets.isEmpty()) {
			throw refused(ALLOWED + " is set, and pipeset.callbacks.secret is not.");
		}
	}

	/**
	 * The URLs under the prefixes of a property.
	 * @throws RefusedAccessException if one of them is no prefix
	 */
	public static UrlPrefixes prefixes(String property, List<String> texts) {
		try {
			return UrlPrefixes.of(texts);
		}
		catch (IllegalArgumentException ex) {
			throw new RefusedAccessException("Each value of " + property + ' ' + ex.getMessage() + '.',
					"Set prefixes of URLs such as https://hooks.example/pipeset/.");
		}
	}

	private static SecretKeySpec secret(String text) {
		try {
			byte[] bytes = Base64.getDecoder().decode(text.substring(SECRET_PREFIX.length()));
			if (text.startsWith(SECRET_PREFIX) && bytes.length >= MIN_SECRET_BYTES
					&& bytes.length <= MAX_SECRET_BYTES) {
				return new SecretKeySpec(bytes, "HmacSHA256");
			}
		}
		catch (IllegalArgumentException | StringIndexOutOfBoundsException ex) {
			// The exception would quote a part of the secret.
		}
		throw refused("pipeset.callbacks.secret has a value that is not whsec_ and the base64 of 24 to 64 bytes."
				+ " It is not shown because it may be a secret.");
	}

	private static RefusedAccessException refused(String problem) {
		return new RefusedAccessException(problem,
				"Create a secret with echo whsec_$(openssl rand -base64 32), and give it to the receivers as well.");
	}

	/** Whether jobs may have callbacks. */
	public boolean areEnabled() {
		return !this.allowed.isEmpty();
	}

	/**
	 * Checks a job's callback before the job begins.
	 * @throws JobRefusedException if the client may not use the URL
	 */
	public void require(Client client, URI url) {
		String refusal = refusal(client, url);
		if (refusal != null) {
			throw new JobRefusedException(Reason.FORBIDDEN, refusal);
		}
	}

	/**
	 * Checks a callback.
	 * @param client the client that owns the job; {@code null} if it is not configured
	 * @param url a URL from {@link UrlPrefixes#parse}
	 * @return why no report may be posted there, without the URL; {@code null} if one may
	 */
	public @Nullable String refusal(@Nullable Client client, URI url) {
		if (!areEnabled()) {
			return "Callbacks are switched off here: " + ALLOWED + " is not set";
		}
		if (client == null || !client.callbacks().contain(url)) {
			return "The client" + ((client != null) ? " '" + client + "' may not use this callback: "
					+ client.property("callbacks") + " allows " + client.callbacks() : " is not configured");
		}
		return (this.allowed.contain(url)) ? null
				: "This callback is not under one of the URLs that " + ALLOWED + " allows";
	}

	/**
	 * Signs a callback.
	 * @param id the value of {@code webhook-id}
	 * @param seconds the value of {@code webhook-timestamp}, in seconds since 1970
	 * @return the value of {@code webhook-signature}: a signature by each secret
	 */
	public String sign(String id, long seconds, byte[] body) {
		return this.secrets.stream().map((secret) -> {
			try {
				Mac mac = Mac.getInstance(secret.getAlgorithm());
				mac.init(secret);
				mac.update((id + '.' + seconds + '.').getBytes(StandardCharsets.UTF_8));
				return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
			}
			catch (GeneralSecurityException ex) {
				throw new IllegalStateException("Every JDK has HMAC-SHA256", ex);
			}
		}).collect(Collectors.joining(" "));
	}

}
