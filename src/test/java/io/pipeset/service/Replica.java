package io.pipeset.service;

import java.util.HashMap;
import java.util.Map;

import io.pipeset.PipesetApplication;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.TestRedis;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A further instance of the service in the JVM of the tests, with a way of its own to the
 * control Redis.
 */
public final class Replica implements AutoCloseable {

	private final FaultProxy proxy;

	private final ConfigurableApplicationContext context;

	private final Service service;

	private Replica(FaultProxy proxy, ConfigurableApplicationContext context) {
		this.proxy = proxy;
		this.context = context;
		this.service = new Service(context.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
	}

	/** Starts an instance, whose way to the data Redis is that of the properties. */
	public static Replica start(TestRedis control, Map<String, String> data, String... properties) {
		FaultProxy proxy = FaultProxy.open(control);
		Map<String, Object> all = new HashMap<>(data);
		all.keySet().removeIf((name) -> name.startsWith("pipeset.control."));
		all.putAll(properties(control, proxy));
		all.put("server.port", "0");
		all.put("pipeset.warm-up.enabled", "false");
		for (String property : properties) {
			String[] parts = property.split("=", 2);
			all.put(parts[0], parts[1]);
		}
		return new Replica(proxy,
				new SpringApplicationBuilder(PipesetApplication.class).run(all.entrySet()
					.stream()
					.map((property) -> "--" + property.getKey() + "=" + property.getValue())
					.toArray(String[]::new)));
	}

	/** The properties by which a service reaches its control Redis through a proxy. */
	public static Map<String, String> properties(TestRedis control, FaultProxy proxy) {
		Map<String, String> properties = new HashMap<>(control.controlProperties());
		properties.put("pipeset.control.host", "127.0.0.1");
		properties.put("pipeset.control.port", Integer.toString(proxy.port()));
		return properties;
	}

	public Service service() {
		return this.service;
	}

	/** A part of the instance. */
	public <T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	/** A part of the instance that only its own package knows. */
	public Object bean(String name) {
		return this.context.getBean(name);
	}

	/** The way to the control Redis. */
	public FaultProxy proxy() {
		return this.proxy;
	}

	@Override
	public void close() {
		if (this.context.isActive()) {
			this.proxy.heal();
			this.context.close();
			this.proxy.close();
		}
	}

}
