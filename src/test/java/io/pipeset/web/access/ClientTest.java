package io.pipeset.web.access;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;

/**
 * Runs a service with four clients. {@code orders} has two keys and few rights,
 * {@code billing} has all rights, {@code operator} may not run records, and
 * {@code analyst} may analyse all keys, slowly. The test's {@link Service} calls as
 * {@code billing}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ServiceTest(properties = { ServiceTest.KEY + "=" + ClientTest.BILLING,
		"pipeset.clients.orders.key-sha256=" + "9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144,"
				+ "ff6512845bee709b6f5c09de51ba90c224d867669b8a27188bb6bcad2fd4f19f",
		"pipeset.clients.orders.operations=SET,RPOP,UNLINK,EVALSHA",
		"pipeset.clients.orders.key-prefixes=order:,cart:\u00e9", "pipeset.clients.orders.limits.max-records=1000",
		"pipeset.clients.orders.limits.max-bytes=64KB", "pipeset.clients.orders.limits.rate-limit=5000",
		"pipeset.clients.orders.limits.max-jobs=2",
		"pipeset.clients.billing.key-sha256=f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6",
		"pipeset.clients.billing.scripts=true", "pipeset.clients.billing.analyses=true",
		"pipeset.clients.billing.tunings=true",
		"pipeset.clients.operator.key-sha256=80b667cb640b631e93bd689858ddff7620372c82820a34b2b987455b4e56aeb9",
		"pipeset.clients.operator.operations=", "pipeset.clients.operator.sweeps=false",
		"pipeset.clients.analyst.key-sha256=fea3eec5fb523f21aafdd575d0b252eaf034e8f21cc70fdaad99c2241fd6f60f",
		"pipeset.clients.analyst.operations=", "pipeset.clients.analyst.analyses=true",
		"pipeset.clients.analyst.limits.rate-limit=200" })
@interface ClientTest {

	String ORDERS = "key-of-orders";

	String NEXT_OF_ORDERS = "next-key-of-orders";

	String BILLING = "key-of-billing";

	String OPERATOR = "key-of-operator";

	String ANALYST = "key-of-analyst";

}
