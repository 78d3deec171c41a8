package io.pipeset.web.cluster;

import java.util.stream.IntStream;

import io.pipeset.redis.TestCluster;
import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The console of a service whose Redis is a cluster. */
@ServiceTest
class ConsoleClusterTests {

	static final TestCluster cluster = TestCluster.shared();

	private final Service service;

	ConsoleClusterTests(Service service) {
		this.service = service;
	}

	@AfterEach
	void reset() {
		cluster.reset();
	}

	@Test
	void eachMasterIsShownWithItsSlots(Browser browser) {
		this.service.post("/pipeset/100").report();
		browser.visit(this.service, "/#/service");
		browser.awaitSaid("up", "Slots", "5,461", "5,462", "All 16,384 slots have a master.");
		cluster.nodes().map(TestCluster::address).forEach(browser::awaitSaid);
		browser.picture("console-cluster", 1200, 800);
	}

	@Test
	void aPrefixIsDeletedFromAllMasters(Browser browser) {
		this.service
			.ndjson("/v1/jobs",
					IntStream.range(0, 300)
						.mapToObj((i) -> "[\"SET\",\"" + ((i % 3 == 0) ? "few" : "many") + ":" + i + "\",\"x\"]")
						.toArray(String[]::new))
			.report();
		browser.visit(this.service, "/#/keyspace");
		// The record of the analysis is in the cluster as well.
		browser.type("#field-match", "[fm]*");
		browser.click("#analyse");
		browser.awaitSaid("2 prefixes", "Masters");
		cluster.nodes().map(TestCluster::address).forEach(browser::awaitSaid);
		browser.clickText("many:");
		browser.click("#count");
		browser.awaitSaid("200 keys match many:*");
		browser.click("#unlink");
		browser.type("#field-sweep-name", "many:");
		browser.click("#sweep");
		browser.awaitSaid("All 200 records ran.");
		assertThat(cluster.nodes().flatMap((node) -> node.client().keys("*:*").stream()))
			.filteredOn((key) -> !key.startsWith("pipeset:"))
			.hasSize(100)
			.allMatch((key) -> key.startsWith("few:"));
	}

}
