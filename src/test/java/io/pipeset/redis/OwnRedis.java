package io.pipeset.redis;

import java.util.LinkedHashMap;
import java.util.Map;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

import static org.awaitility.Awaitility.await;

/**
 * A Redis that one test class may pause, kill and configure, perhaps with a proxy in
 * front of it. A class registers it as a static field; a service that Spring starts for
 * the class then talks to this Redis. After each test the Redis goes on and the proxy
 * forwards again; after the last one both are ended.
 */
public final class OwnRedis implements ContextCustomizer, AfterEachCallback, AfterAllCallback {

	private final TestRedis redis;

	private final @Nullable FaultProxy proxy;

	private @Nullable String user;

	private OwnRedis(TestRedis redis, @Nullable FaultProxy proxy) {
		this.redis = redis;
		this.proxy = proxy;
	}

	/**
	 * Starts a server.
	 * @param configLines lines for redis.conf such as {@code maxmemory 2mb}
	 * @return the server, to be registered as an extension
	 */
	public static OwnRedis start(String... configLines) {
		return new OwnRedis(TestRedis.start(configLines), null);
	}

	/**
	 * Starts a server, and a proxy through which the service reaches it.
	 * @param configLines lines for redis.conf such as {@code maxmemory 2mb}
	 * @return the server, to be registered as an extension
	 */
	public static OwnRedis behindProxy(String... configLines) {
		TestRedis redis = TestRedis.start(configLines);
		return new OwnRedis(redis, FaultProxy.open(redis));
	}

	/**
	 * Lets the service log in as another user than the test. At first that user may do
	 * everything.
	 * @param name the user's name, which is its password as well
	 * @return this
	 */
	public OwnRedis as(String name) {
		this.user = name;
		permitAll();
		return this;
	}

	/** Permits the service's user all commands on all keys. */
	public void permitAll() {
		permit(AclSetuserArgs.Builder.reset().allKeys().allCommands());
	}

	/**
	 * Changes the rights of the service's user.
	 * @param rules the further rules
	 */
	public void permit(AclSetuserArgs rules) {
		String name = this.user;
		if (name == null) {
			throw new IllegalStateException("The service has no user of its own here");
		}
		this.redis.client().aclSetuser(name, rules.on().addPassword(name));
	}

	/**
	 * Forbids the service's user a command.
	 * @param command the command
	 */
	public void forbid(CommandType command) {
		permit(AclSetuserArgs.Builder.removeCommand(command));
	}

	/**
	 * The server.
	 * @return the same each time
	 */
	public TestRedis redis() {
		return this.redis;
	}

	/**
	 * The proxy in front of the server.
	 * @return the same each time
	 */
	public FaultProxy proxy() {
		if (this.proxy == null) {
			throw new IllegalStateException("This Redis has no proxy");
		}
		return this.proxy;
	}

	/**
	 * The properties by which Spring Boot uses this server, or its proxy.
	 * @return properties {@code spring.data.redis.*}, and those that keep the service
	 * from asking by itself, and from writing records of jobs, where a proxy counts
	 */
	public Map<String, String> properties() {
		Map<String, String> properties = new LinkedHashMap<>(this.redis.properties());
		if (this.proxy != null) {
			properties.put("spring.data.redis.host", "127.0.0.1");
			properties.put("spring.data.redis.port", Integer.toString(this.proxy.port()));
			// Places are counted in messages, and these come at most once a second.
			properties.put("pipeset.pipeline.memory-warnings", "false");
			this.redis.controlProperties().forEach(properties::putIfAbsent);
		}
		if (this.user != null) {
			properties.put("spring.data.redis.username", this.user);
			properties.put("spring.data.redis.password", this.user);
		}
		return properties;
	}

	@Override
	public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration merged) {
		TestPropertyValues.of(properties()).applyTo(context);
		if (this.proxy != null) {
			context.addApplicationListener((ApplicationReadyEvent ready) -> FirstSweep.awaitEnd(context));
		}
	}

	@Override
	public void afterEach(ExtensionContext context) {
		this.redis.resume();
		if (this.proxy != null) {
			this.proxy.heal();
		}
		await().ignoreExceptions().until(() -> this.redis.client().ping().equals("PONG"));
	}

	@Override
	public void afterAll(ExtensionContext context) {
		if (this.proxy != null) {
			this.proxy.close();
		}
		this.redis.close();
	}

}
