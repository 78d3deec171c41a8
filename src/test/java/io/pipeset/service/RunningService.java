package io.pipeset.service;

import java.io.IOException;
import java.time.Duration;
import java.util.regex.Pattern;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

import org.springframework.core.env.Environment;
import org.springframework.test.context.junit.jupiter.SpringExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Hands each test a client of the service that runs for it, ends the uploads that the
 * client has begun, and checks that the test leaves the service idle, with no permit and
 * no bytes taken.
 */
class RunningService implements ParameterResolver, AfterEachCallback {

	private static final Namespace CLIENTS = Namespace.create(RunningService.class);

	private static final String IDLE = """
			{"jobsRunning":0,"jobsWaiting":0,"lanes":{"busy":0,"most":0,"waiting":0},"inFlightBytes":0,\
			"memory":{"usedBytes":0,"budgetBytes":0,"jobBytes":0,"waiting":0}}""";

	/** The limits, which differ from machine to machine. */
	private static final Pattern LIMITS = Pattern.compile("\"(most|budgetBytes|jobBytes)\":\\d+");

	/** The servers, which differ as well, each of them idle. */
	private static final Pattern IDLE_NODES = Pattern
		.compile("\"nodes\":\\{(\"[^\"]+\":\\{\"busy\":0,\"most\":0,\"waiting\":0(,\"slots\":\\d+)?},?)*},"
				+ "|,\"(spool|limits|control)\":\\{[^}]*}|,\"redis\":\"[^\"]+\"");

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return parameter.getParameter().getType() == Service.class;
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		Service service = service(context, "local.server.port");
		context.getStore(CLIENTS).put(Service.class, service);
		return service;
	}

	@Override
	public void afterEach(ExtensionContext context) throws IOException {
		Service client = context.getStore(CLIENTS).get(Service.class, Service.class);
		if (client != null) {
			client.close();
		}
		Service actuator = service(context, "local.management.port");
		// Nearly always it is idle at once, for which a thread that waits is too much.
		if (!withoutLimits(actuator).equals(IDLE)) {
			await().atMost(Duration.ofMinutes(2))
				.untilAsserted(() -> assertThat(withoutLimits(actuator)).isEqualTo(IDLE));
		}
	}

	private static String withoutLimits(Service actuator) {
		String snapshot = actuator.get("/actuator/pipeset").json().toString();
		return IDLE_NODES.matcher(LIMITS.matcher(snapshot).replaceAll("\"$1\":0")).replaceAll("");
	}

	private static Service service(ExtensionContext context, String port) {
		Environment environment = SpringExtension.getApplicationContext(context).getEnvironment();
		return new Service(environment.getRequiredProperty(port, Integer.class))
			.as(environment.getProperty(ServiceTest.KEY));
	}

}
