package io.pipeset.web.cluster;

import java.net.NetworkInterface;

import io.netty.util.NetUtil;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The nodes of a cluster announce IPv6 addresses, and redirect to them without brackets.
 */
@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
@EnabledIf("hasIpv6")
@ServiceTest
class ClusterIpv6CampaignTests {

	private final Service service;

	ClusterIpv6CampaignTests(Service service) {
		this.service = service;
	}

	static boolean hasIpv6() throws Exception {
		return NetworkInterface.getByInetAddress(NetUtil.LOCALHOST6) != null;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		Nodes.CLUSTER.properties()
			.forEach((name, value) -> registry.add(name, () -> value.replace("127.0.0.1", "[::1]")));
	}

	@AfterAll
	static void close() {
		Nodes.CLUSTER.close();
	}

	@Test
	void redirectionsAreFollowed() {
		TestRedis from = Nodes.CLUSTER.master(0);
		TestRedis to = Nodes.CLUSTER.master(1);
		String tag = Nodes.CLUSTER.tag(0, 0);
		String push = "[\"RPUSH\",\"{" + tag + "}list\",\"1\"]";
		assertThat(this.service.post("/pipeset/1000").report().at("/counts/applied").asInt()).isEqualTo(1000);
		Nodes.CLUSTER.begin(TestCluster.slot(tag), from, to);
		assertThat(this.service.ndjson("/v1/jobs", push).report().at("/counts/applied").asInt()).isOne();
		Nodes.CLUSTER.end(TestCluster.slot(tag), from, to);
		assertThat(this.service.ndjson("/v1/jobs", push).report().at("/counts/applied").asInt()).isOne();
		assertThat(to.client().llen("{" + tag + "}list")).isEqualTo(2);
	}

	/** Started only where there is IPv6, and named by its properties only. */
	private static final class Nodes {

		static final TestCluster CLUSTER = TestCluster.start(2, 0, "bind 127.0.0.1 ::1", "cluster-announce-ip ::1");

	}

}
