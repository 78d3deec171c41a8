package io.pipeset.project;

import java.io.IOException;
import java.util.List;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.Documentation;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The page of servers has the column of the one that runs the tests right.
 */
class DocumentedServersTests {

	private static final String PAGE = "docs/servers.md";

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@Test
	void theColumnOfThisServerIsRight() throws IOException {
		List<String> rows = Documentation.rows(PAGE, "# Servers", "| ");
		String server = server();
		int column = List.of(cells(rows.get(0))).indexOf(server);
		assumeTrue(column > 0, server + " has no column in " + PAGE);
		assertThat(cell(rows, "`COMMAND COUNT`", column)).isEqualTo(String.valueOf(this.redis.commandCount()));
		assertThat(cell(rows, "`INFO` says `redis_version`", column)).isEqualTo(info("redis_version"));
		for (String row : rows) {
			String[] cells = cells(row);
			if (cells[1].matches("[A-Z]+(, [A-Z]+)*")) {
				for (String command : cells[1].split(", ", -1)) {
					assertThat(TestRedis.shared().knows(command)).as("%s of %s in %s", command, server, PAGE)
						.isEqualTo(cells[column].equals("yes"));
				}
			}
		}
	}

	private String server() {
		String valkey = info("valkey_version");
		return (valkey.isEmpty()) ? "Redis " + info("redis_version") : "Valkey " + valkey;
	}

	private String info(String name) {
		return this.redis.info("server")
			.lines()
			.filter((line) -> line.startsWith(name + ":"))
			.map((line) -> line.substring(name.length() + 1).strip())
			.findFirst()
			.orElse("");
	}

	private static String cell(List<String> rows, String head, int column) {
		return rows.stream()
			.map(DocumentedServersTests::cells)
			.filter((cells) -> cells[1].equals(head))
			.findFirst()
			.orElseThrow()[column];
	}

	private static String[] cells(String row) {
		return row.split(" *\\| *", -1);
	}

}
