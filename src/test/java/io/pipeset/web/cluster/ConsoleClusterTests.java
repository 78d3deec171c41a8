package io.pipeset.web.cluster;

import io.pipeset.redis.TestCluster;
import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;

/** The console of a service whose Redis is a cluster. */
@ServiceTest
class ConsoleClusterTests {

	static final TestCluster cluster = TestCluster.shared();

	private final Service service;

	ConsoleClusterTests(Service service) {
		this.service = service;
	}

	@Test
	void eachMasterIsShownWithItsSlots(Browser browser) {
		this.service.post("/pipeset/100").report();
		browser.visit(this.service, "/#/service");
		browser.awaitSaid("up", "Slots", "5,461", "5,462", "All 16,384 slots have a master.");
		cluster.nodes().map(TestCluster::address).forEach(browser::awaitSaid);
		browser.picture("console-cluster", 1200, 800);
	}

}
