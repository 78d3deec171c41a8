package io.pipeset.service;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

/**
 * A control Redis of one test class, and a second instance of the service that shares it
 * with the instance that Spring starts for the class. Each instance has a proxy of its
 * own on the way there. A class registers this as a static field. Before each test the
 * shared Redis, which has the data, is emptied; after it the proxies forward again.
 */
public final class TwoInstances implements ContextCustomizer, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

	private final TestRedis control;

	private final FaultProxy proxy;

	private final Replica replica;

	private TwoInstances(TestRedis control, String... properties) {
		this.control = control;
		this.proxy = FaultProxy.open(control);
		this.replica = Replica.start(control, TestRedis.shared().properties(), properties);
		control.client().select(1);
	}

	/**
	 * Starts a control Redis and the second instance.
	 * @param properties the settings of the second instance
	 * @return both, to be registered as an extension
	 */
	public static TwoInstances start(String... properties) {
		return share(TestRedis.start(), properties);
	}

	/**
	 * Starts the second instance.
	 * @param control the control Redis
	 * @param properties the settings of the second instance
	 * @return both, to be registered as an extension
	 */
	public static TwoInstances share(TestRedis control, String... properties) {
		return new TwoInstances(control, properties);
	}

	/**
	 * The control Redis, whose client has selected the database of the records.
	 * @return the same each time
	 */
	public TestRedis control() {
		return this.control;
	}

	/**
	 * The proxy between the first instance and the control Redis.
	 * @return the same each time
	 */
	public FaultProxy proxy() {
		return this.proxy;
	}

	/**
	 * The second instance.
	 * @return the same each time
	 */
	public Replica replica() {
		return this.replica;
	}

	/** Cuts both instances off from the control Redis: no byte moves any more. */
	public void cutOff() {
		this.proxy.stopAll();
		this.replica.proxy().stopAll();
	}

	/** Lets both instances reach the control Redis again. */
	public void heal() {
		this.proxy.heal();
		this.replica.proxy().heal();
	}

	@Override
	public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration merged) {
		TestPropertyValues.of(Replica.properties(this.control, this.proxy)).applyTo(context);
	}

	@Override
	public void beforeEach(ExtensionContext context) {
		TestRedis.shared().client().flushall();
	}

	@Override
	public void afterEach(ExtensionContext context) {
		heal();
	}

	@Override
	public void afterAll(ExtensionContext context) {
		this.replica.close();
		this.proxy.close();
		this.control.close();
	}

}
