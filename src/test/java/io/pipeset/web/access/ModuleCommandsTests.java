package io.pipeset.web.access;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.ModuleFiles;
import io.pipeset.redis.OwnRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Commands of modules concern no other client's keys. */
@ServiceTest(properties = { ServiceTest.KEY + "=key-of-orders",
		"pipeset.clients.orders.key-sha256=9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144",
		"pipeset.clients.orders.key-prefixes=order:",
		"pipeset.clients.named.key-sha256=f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6",
		"pipeset.clients.named.key-prefixes=order:", "pipeset.clients.named.operations=CMS.MERGE,FT.CREATE",
		"pipeset.clients.any.key-sha256=80b667cb640b631e93bd689858ddff7620372c82820a34b2b987455b4e56aeb9" })
class ModuleCommandsTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start(ModuleFiles.configLines());

	private final Service orders;

	private final RedisCommands<String, String> redis = own.redis().client();

	ModuleCommandsTests(Service service) {
		this.orders = service;
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', nullValues = "-", textBlock = """
			orders | JSON.SET order:j $ {"a":1}               | -
			orders | JSON.NUMINCRBY order:j a 2               | -
			orders | JSON.SET other:j $ 1                     | FORBIDDEN
			orders | JSON.MSET order:j $ 1 other:j $ 1        | FORBIDDEN
			orders | BF.ADD order:b x                         | -
			orders | BF.ADD other:b x                         | FORBIDDEN
			orders | CF.ADD order:c x                         | -
			orders | TOPK.RESERVE order:t 3                   | -
			orders | CMS.INITBYDIM order:m 10 5               | -
			orders | CMS.MERGE order:m 1 other:m              | FORBIDDEN
			named  | CMS.MERGE order:m 1 order:m              | -
			any    | CMS.MERGE order:m 1 order:m              | -
			orders | TDIGEST.MERGE order:d 1 other:d          | FORBIDDEN
			orders | TS.ADD order:s 1 2                       | -
			orders | TS.CREATERULE order:s other:s AGGREGATION avg 60 | FORBIDDEN
			orders | FT.SUGADD order:g hello 1                | -
			orders | FT.CREATE order:i ON HASH PREFIX 1 other: SCHEMA t TEXT | FORBIDDEN
			named  | FT.CREATE order:i ON HASH PREFIX 1 other: SCHEMA t TEXT | FORBIDDEN
			any    | FT.CREATE i ON HASH PREFIX 1 other: SCHEMA t TEXT       | -
			any    | FT.DROPINDEX i DD                        | UNKNOWN_OPERATION
			any    | FT._DROPINDEXIFX i DD                    | UNKNOWN_OPERATION
			any    | FT.SUGDEL order:g hello                  | UNKNOWN_OPERATION
			""")
	void aCommandConcernsItsOwnKeysOnly(String client, String line, String code) {
		Assumptions.assumeTrue(own.redis().knows(line.replaceAll(" .*", "")), "skipped: no module has the command");
		this.redis.flushall();
		prepare(line);
		JsonNode report = as(client)
			.post("/v1/jobs?results=all", "text/plain", line.replace("\"", "\\\"").replaceAll("(\\{.*})", "\"$1\""))
			.report();
		JsonNode item = report.at("/items/0");
		if (code != null) {
			assertThat(item.at("/error/code").asString()).isEqualTo(code);
			assertThat(
					this.redis.keys("*").stream().filter((key) -> key.startsWith("order:") && !key.equals("order:m")))
				.isEmpty();
		}
		else {
			assertThat(Answer.counts(report).applied()).as(item.toString()).isOne();
		}
	}

	private void prepare(String line) {
		if (line.startsWith("JSON.NUM")) {
			as("orders").post("/v1/jobs", "text/plain", "JSON.SET order:j $ \"{\\\"a\\\":1}\"");
		}
		if (line.startsWith("CMS.MERGE")) {
			as("orders").post("/v1/jobs", "text/plain", "CMS.INITBYDIM order:m 10 5");
		}
	}

	private Service as(String client) {
		return switch (client) {
			case "orders" -> this.orders;
			case "named" -> this.orders.as("key-of-billing");
			default -> this.orders.as("key-of-operator");
		};
	}

}
