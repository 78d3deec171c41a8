package io.pipeset.web.operator;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.env.Environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A server of Actuator's own is a small one, with the same rules. */
@ServiceTest(properties = { "management.server.port=0", "management.server.address=127.0.0.1",
		"server.tomcat.connection-timeout=10m" })
class ManagementServerTests {

	private final Service service;

	private final Service management;

	ManagementServerTests(Service service, @Autowired Environment environment) {
		this.service = service;
		this.management = new Service(environment.getRequiredProperty("local.management.port", Integer.class));
	}

	/**
	 * The server tells times by the millisecond, in which it accepts many connections.
	 */
	@Test
	void moreIdleConnectionsThanItTakesKeepNobodyOut() throws IOException {
		List<Socket> idle = new ArrayList<>();
		try {
			connect(idle, 5);
			try (Wire behind = Wire.open(this.management, "GET /actuator/health/liveness HTTP/1.1", "Host: localhost",
					"Connection: close")) {
				behind.awaitEnd();
			}
			long accepted = System.currentTimeMillis();
			await().until(() -> System.currentTimeMillis() > accepted);
			connect(idle, 80);
			assertThat(this.management.get("/actuator/health/liveness").status()).isEqualTo(200);
			for (Socket longest : idle.subList(0, 5)) {
				assertThat(longest.getInputStream().read()).as("one that was idle longest").isEqualTo(-1);
			}
		}
		finally {
			for (Socket socket : idle) {
				socket.close();
			}
		}
	}

	/** Reading ends before the server's own time-out would close a connection. */
	private void connect(List<Socket> idle, int connections) throws IOException {
		for (int i = 0; i < connections; i++) {
			Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.management.port());
			idle.add(socket);
			socket.setSoTimeout(10_000);
		}
	}

	/**
	 * These requests come byte by byte, so that their heads are never complete: twice in
	 * the second after which a connection counts as idle.
	 */
	@Test
	void moreBeginningsOfRequestsThanItTakesKeepNobodyOut() throws Exception {
		List<Wire> begun = new CopyOnWriteArrayList<>();
		ScheduledExecutorService drip = Executors.newSingleThreadScheduledExecutor();
		try {
			Future<?> unused = drip.scheduleAtFixedRate(() -> begun.forEach(ManagementServerTests::trySend), 0, 500,
					TimeUnit.MILLISECONDS);
			for (int i = 0; i < 80; i++) {
				begun.add(Wire.open(this.management, "GET /actuator/health/liveness HTTP/1.1", "Host: localhost")
					.send("GET /"));
			}
			try (Wire health = Wire.open(this.management, "GET /actuator/health/liveness HTTP/1.1",
					"Host: localhost")) {
				assertThat(health.line(5000)).isEqualTo("HTTP/1.1 200 ");
			}
		}
		finally {
			drip.shutdownNow();
			assertThat(drip.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
			for (Wire wire : begun) {
				wire.close();
			}
		}
	}

	/** The server reads no bodies, and does not wait for the rest of them. */
	@Test
	void bodiesThatTrickleHoldUpNobody() throws Exception {
		for (Service server : new Service[] { this.management, this.service }) {
			try (Wire wire = Wire.open(server, "POST /actuator/health HTTP/1.1", "Host: localhost",
					"Content-Length: 1000")) {
				wire.send("x").awaitEnd();
			}
		}
	}

	@Test
	void itsErrorsAreProblemsToo() throws IOException {
		this.management.get("/error").refusal(404, "not-found");
		this.management.get("/nothing").refusal(404, "not-found");
		for (Service server : new Service[] { this.management, this.service }) {
			try (Wire wire = Wire.open(server, "TRACE /actuator/health HTTP/1.1", "Host: localhost",
					"Connection: close")) {
				wire.answer().refusal(405, "method-not-allowed");
			}
		}
	}

	@Test
	void itsServerRefusesThemToo() throws IOException {
		assertThat(this.management.port()).isNotEqualTo(this.service.port());
		assertThat(this.management.get("/actuator/health/liveness").status()).isEqualTo(200);
		this.management.send(this.management.request("/actuator/health").header("Origin", "http://evil.example").GET())
			.refusal(403, "foreign-request");
		for (Service server : new Service[] { this.service, this.management }) {
			try (Wire wire = Wire.open(server, "GET /actuator/health HTTP/1.1", "Host: evil.example",
					"Connection: close")) {
				wire.answer().refusal(403, "foreign-request");
			}
		}
	}

	private static void trySend(Wire wire) {
		try {
			wire.send("x");
		}
		catch (IOException ex) {
			// The server has closed the connection, as it should.
		}
	}

}
