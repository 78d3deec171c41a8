package io.pipeset.input.source;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Predicate;

import io.pipeset.input.SourceException;
import io.pipeset.input.StoredBytes;
import io.pipeset.input.UrlVersion;
import io.pipeset.request.ByteLimit;
import io.pipeset.request.Callbacks;
import io.pipeset.request.Client;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.JobRefusedException.Reason;
import io.pipeset.request.UrlPrefixes;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/**
 * The rules for URLs whose bodies the service fetches, and the HTTP client that fetches
 * them.
 */
@Component
@EnableConfigurationProperties(SourceProperties.class)
public class UrlSources {

	static final String ALLOWED = "pipeset.sources.urls";

	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration FIRST_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration TICK = Duration.ofMillis(200);

	private final UrlPrefixes allowed;

	private final SourceProperties properties;

	private final JobLimits limits;

	private final TaskScheduler scheduler;

	private final ExecutorService executor = Executors.newCachedThreadPool(threads());

	private volatile @Nullable HttpClient http;

	/**
	 * Creates the rules from their properties.
	 * @throws io.pipeset.request.RefusedAccessException if a property has a wrong value
	 */
	UrlSources(SourceProperties properties, JobLimits limits, TaskScheduler scheduler) {
		this.scheduler = scheduler;
		this.properties = properties;
		this.limits = limits;
		this.allowed = Callbacks.prefixes(ALLOWED, properties.urls());
	}

	/** The threads of the client are not started in the context of the web server. */
	@EventListener(ApplicationStartedEvent.class)
	void start() {
		if (areEnabled()) {
			this.http = HttpClient.newBuilder()
				.version(HttpClient.Version.HTTP_1_1)
				.followRedirects(HttpClient.Redirect.NEVER)
				.connectTimeout(CONNECT_TIMEOUT)
				.executor(this.executor)
				.build();
		}
	}

	/** Whether the service may fetch any URL. */
	public final boolean areEnabled() {
		return !this.allowed.isEmpty();
	}

	/** The prefixes of the URLs that a client may use. */
	public List<String> of(Client client) {
		return (areEnabled()) ? client.sources().urls().orAll(this.allowed) : List.of();
	}

	/**
	 * Checks a URL before its job begins, or goes on.
	 * @throws JobRefusedException if the client may not use the URL
	 */
	public void require(Client client, URI url) {
		if (!client.sources().urls().contain(url)) {
			throw new JobRefusedException(Reason.FORBIDDEN, "The client '" + client + "' may not use this URL: "
					+ client.property("sources") + " allows " + client.sources());
		}
		if (!this.allowed.contain(url)) {
			throw new JobRefusedException(Reason.FORBIDDEN,
					"This URL is not under one of those that " + ALLOWED + " allows, or has a segment '.' or '..'");
		}
	}

	/**
	 * Fetches a resource. This waits for the head of the response.
	 * @param client whose URLs also limit redirects
	 * @param url a URL that the client may use
	 * @throws SourceException if the URL cannot be reached, or answers no resource
	 * @throws IOException if the resource is too large
	 */
	public UrlBody open(Client client, URI url) throws IOException {
		UrlBody body = body(url, null, client.sources().urls()::contain, this.limits.ofBodies().and(client.ofBodies()));
		body.open();
		return body;
	}

	/**
	 * A resource that may have been read before. Redirects are held to the URLs of the
	 * service, and to those of a client that is {@link #require set}.
	 */
	public StoredBytes stored(UrlVersion version) {
		return new StoredUrl(version);
	}

	/**
	 * Checks a stored resource before it is read again, and holds its redirects to the
	 * URLs that a client may use.
	 * @throws JobRefusedException if the client may not use its URL
	 */
	public void require(Client client, StoredBytes resource) {
		if (resource instanceof StoredUrl stored) {
			require(client, URI.create(stored.version.url()));
			stored.client = client;
		}
	}

	private UrlBody body(URI url, @Nullable UrlVersion version, Predicate<URI> ofClient, ByteLimit limit) {
		return new UrlBody(this, url, version, (found) -> this.allowed.contain(found) && ofClient.test(found), limit);
	}

	/**
	 * The client.
	 * @throws SourceException if URLs are switched off, or the service ends
	 */
	HttpClient http() throws SourceException {
		HttpClient http = this.http;
		if (http == null) {
			throw new SourceException("The service fetches no URLs, because " + ALLOWED + " is not set", null);
		}
		return http;
	}

	/** How long a source may give nothing before its job fails. */
	Duration timeout() {
		return this.properties.timeout();
	}

	/** How long the first response may take, while a caller waits for its status. */
	Duration firstTimeout() {
		return (FIRST_TIMEOUT.compareTo(timeout()) < 0) ? FIRST_TIMEOUT : timeout();
	}

	/** How long one read may wait before the connection counts as broken. */
	Duration idleTimeout() {
		Duration idle = this.limits.bodyIdleTimeout();
		return (idle.compareTo(timeout()) < 0) ? idle : timeout();
	}

	/** Runs a check regularly, until it is cancelled. */
	ScheduledFuture<?> watch(Runnable check) {
		return this.scheduler.scheduleWithFixedDelay(check, TICK);
	}

	private static CustomizableThreadFactory threads() {
		CustomizableThreadFactory threads = new CustomizableThreadFactory("urls-");
		threads.setDaemon(true);
		return threads;
	}

	@PreDestroy
	void shutDown() {
		this.executor.shutdown();
		// Its threads end once it is garbage.
		this.http = null;
	}

	/** The resource of a URL as a body that is not stored here. */
	private final class StoredUrl implements StoredBytes {

		private final UrlVersion version;

		private volatile @Nullable Client client;

		StoredUrl(UrlVersion version) {
			this.version = version;
		}

		@Override
		public UrlBody open() {
			URI url = UrlPrefixes.parse(this.version.url(), UrlPrefixes.MAX_SIGNED_URL_LENGTH);
			Client client = this.client;
			return body((url != null) ? url : URI.create("invalid:"), this.version,
					(target) -> client == null || client.sources().urls().contain(target),
					UrlSources.this.limits.ofBodies());
		}

		@Override
		public long bytes() {
			return this.version.length();
		}

		@Override
		public @Nullable String client() {
			return null;
		}

		@Override
		public void close() {
			// The resource stays where it is.
		}

	}

}
