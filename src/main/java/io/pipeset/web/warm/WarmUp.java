package io.pipeset.web.warm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Collections;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;

import javax.net.SocketFactory;

import io.pipeset.web.WarmUpEndpoints;
import io.pipeset.web.warm.LoopbackConnection.Answer;
import jakarta.annotation.PreDestroy;
import jakarta.servlet.ServletContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.WebServerSslBundle;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;

/**
 * Warms the service up between its start and its readiness. Spring Boot reports the
 * service as alive before it calls this runner, and as ready only afterwards. Requests
 * that arrive meanwhile are served.
 */
@Component
@ConditionalOnWebApplication
class WarmUp implements ApplicationRunner {

	private static final Logger logger = LoggerFactory.getLogger(WarmUp.class);

	/** Long, because a machine that starts many services may need seconds to answer. */
	private static final Duration LAST_ANSWERS_TIMEOUT = Duration.ofSeconds(5);

	private final WarmUpProperties properties;

	private final ServerProperties server;

	private final SslBundles bundles;

	private final WarmUpEndpoints endpoints;

	private final ServletContext servletContext;

	private final ApplicationContext context;

	private final CountDownLatch destroyed = new CountDownLatch(1);

	private volatile boolean closing;

	private volatile @Nullable WarmUpCallers callers;

	WarmUp(WarmUpProperties properties, ServerProperties server, SslBundles bundles, WarmUpEndpoints endpoints,
			ServletContext servletContext, ApplicationContext context) {
		this.properties = properties;
		this.server = server;
		this.bundles = bundles;
		this.endpoints = endpoints;
		this.servletContext = servletContext;
		this.context = context;
	}

	@Override
	public void run(ApplicationArguments arguments) throws InterruptedException {
		if (this.properties.enabled() && !this.properties.time().isZero()
				&& this.context instanceof WebServerApplicationContext web && web.getWebServer() != null
				&& web.getWebServer().getPort() > 0) {
			Ssl ssl = this.server.getSsl();
			if (Ssl.isEnabled(ssl) && ssl.getClientAuth() == Ssl.ClientAuth.NEED) {
				logger.info(
						"No warm-up: server.ssl.client-auth=need, and the service has no client certificate to call itself with");
			}
			else {
				warmUp(address(web.getWebServer().getPort()));
			}
		}
		if (this.closing) {
			// Waits for the end of the shutdown, because Boot would report the service as
			// ready after this method returns.
			this.destroyed.await();
		}
	}

	/** Ends the warm-up before the shutdown stops any bean. */
	@EventListener
	void stopWarmUp(ContextClosedEvent event) {
		if (event.getApplicationContext() == this.context) {
			this.closing = true;
			WarmUpCallers callers = this.callers;
			if (callers != null) {
				callers.stop();
			}
		}
	}

	@PreDestroy
	void markDestroyed() {
		this.destroyed.countDown();
	}

	private void warmUp(InetSocketAddress service) throws InterruptedException {
		long began = System.nanoTime();
		try {
			WarmUpCallers callers = new WarmUpCallers(service, socketFactory(), LAST_ANSWERS_TIMEOUT);
			this.callers = callers;
			if (this.closing) {
				return;
			}
			WarmUpRequests requests = new WarmUpRequests(this.servletContext.getContextPath(), this.endpoints.open(),
					UUID.randomUUID().toString());
			Answer first = callers.callOnce(requests.trial());
			if (first.status() != HttpStatus.OK.value()) {
				logger.info("No warm-up: its first job was answered {}", first.status());
				return;
			}
			boolean allowed = first.errors() == 0;
			int jobs = callers.call((allowed) ? requests.all() : requests.dryRuns(), this.properties.time());
			if (allowed) {
				callers.callOnce(requests.cleanup());
			}
			logger.info("Warmed up in {} ms with {} jobs{}", Duration.ofNanos(System.nanoTime() - began).toMillis(),
					jobs, (allowed) ? ""
							: ", none of which went to Redis: it refuses SET, EXPIRE or DEL of keys under pipeset:");
		}
		catch (IOException | GeneralSecurityException | RuntimeException ex) {
			// A cold service is better than a failed start.
			logger.info("The warm-up failed or ended early: {}", ex.toString());
		}
		finally {
			this.endpoints.close();
		}
	}

	/**
	 * With TLS, the service trusts its own certificate, even if no known CA issued it.
	 */
	private SocketFactory socketFactory() throws GeneralSecurityException, IOException {
		Ssl ssl = this.server.getSsl();
		if (!Ssl.isEnabled(ssl)) {
			return SocketFactory.getDefault();
		}
		KeyStore own = Objects.requireNonNull(WebServerSslBundle.get(ssl, this.bundles).getStores().getKeyStore());
		KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
		trusted.load(null);
		for (String alias : Collections.list(own.aliases())) {
			trusted.setCertificateEntry(alias, own.getCertificate(alias));
		}
		return SslBundle.of(SslStoreBundle.of(null, null, trusted)).createSslContext().getSocketFactory();
	}

	private InetSocketAddress address(int port) {
		InetAddress address = this.server.getAddress();
		return new InetSocketAddress(
				(address == null || address.isAnyLocalAddress()) ? InetAddress.getLoopbackAddress() : address, port);
	}

}
