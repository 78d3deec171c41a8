package io.pipeset.benchmark.cases;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.benchmark.data.Caller;
import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.process.Address;
import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.PostgresServer;
import io.pipeset.benchmark.process.Program;
import io.pipeset.benchmark.process.RedisServer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;

/** 1M rows of a table in PostgreSQL, which become hashes. */
public final class QueriesCase implements BenchmarkCase {

	private static final int ROWS = 1_000_000;

	private static final String SQL = "SELECT sku, name, price, updated FROM products";

	/** Without the last byte of each command: it is the end of psql's line. */
	private static final String COMMANDS = "SELECT rtrim(E'*10\\r\\n$4\\r\\nHSET\\r\\n' || "
			+ bulk("('product:' || sku)")
			+ Stream.of("sku", "name", "price::text", "updated::text")
				.map((column) -> " || " + bulk("'" + column.replace("::text", "") + "'") + " || " + bulk(column))
				.collect(Collectors.joining())
			+ ", E'\\n') FROM products";

	private static final String TEMPLATE = "op=HSET&key=product:%7Bsku%7D";

	private static final String SOURCE = "--pipeset.sources.queries.products.";

	/** The ways of Spring Batch, as its rival calls them, with their names for people. */
	private static final Map<String, String> BATCHES = Map.of("pipelined", "executePipelined for a chunk",
			"pipelined-close", "executePipelined for a chunk, flush close", "each", "putAll for a row");

	private static final int WARM_UPS = 3;

	private static final int WARM_UP_ROWS = 100_000;

	@Override
	public void run(Bench bench) {
		bench.console().progress("prepare a table of " + ROWS + " rows");
		try (PostgresServer postgres = PostgresServer.start()) {
			fill(postgres);
			try (JavaServer batch = new RivalServers(bench).batch(postgres.url(), SQL);
					JavaServer service = bench.start("pipeset-queries", bench.jvm(), bench.redis().address(),
							SOURCE + "url=" + postgres.url(), SOURCE + "sql=" + SQL)) {
				race(bench, postgres, batch, service);
			}
		}
	}

	private static void race(Bench bench, PostgresServer postgres, JavaServer batch, JavaServer service) {
		List<Contender> contenders = new ArrayList<>();
		// The best of Spring Batch comes first: all others are compared with it.
		for (String way : List.of("pipelined-close", "pipelined", "each")) {
			contenders.add(new Contender("batch-" + way, "Spring Batch, " + BATCHES.get(way), batch,
					() -> bench.caller().post(List.of(batch.uri("/batch/" + way + "/" + ROWS)))));
			for (int i = 0; i < WARM_UPS; i++) {
				bench.caller().post(List.of(batch.uri("/batch/" + way + "/" + WARM_UP_ROWS)));
			}
		}
		List<Contender> ours = List.of(csv(postgres, service), query(bench.caller(), service));
		for (int i = 0; i < WARM_UPS; i++) {
			for (Contender contender : ours) {
				if (contender.attempt() != null) {
					contender.attempt().run();
				}
			}
		}
		contenders.add(resp(postgres, bench.redis().address()));
		contenders.addAll(ours);
		bench.run(new Race("queries", "1M rows of PostgreSQL become hashes of 4 fields, into an empty database", ROWS,
				bench.redis()::flush, () -> check(bench), contenders), 0);
	}

	private static Contender query(Caller caller, JavaServer service) {
		URI jobs = service.uri("/v1/jobs?from=query&source=products&" + TEMPLATE);
		return new Contender("pipeset-query", "Pipeset, from=query", service, () -> caller.post(List.of(jobs)));
	}

	/** The rows as CSV, by the database's own client. */
	private static Contender csv(PostgresServer postgres, JavaServer service) {
		String curl = "curl -sS -X POST -T - -H 'Content-Type: text/csv' '" + service.uri("/v1/jobs?" + TEMPLATE) + "'";
		return piped("pipeset-psql", "psql COPY | curl to Pipeset", service, postgres,
				"COPY (" + SQL + ") TO STDOUT WITH (FORMAT csv, HEADER)", "curl", curl, Map.of(), Caller::applied);
	}

	/** The rows as commands that the query itself writes. */
	private static Contender resp(PostgresServer postgres, Address address) {
		String redisCli = "redis-cli -h " + Address.HOST + " -p " + address.port() + " --pipe";
		return piped("redis-cli", "psql, commands written in SQL | redis-cli --pipe", null, postgres, COMMANDS,
				"redis-cli", redisCli, Map.of("REDISCLI_AUTH", address.password()), RedisServer::replies);
	}

	private static Contender piped(String id, String name, @Nullable JavaServer service, PostgresServer postgres,
			String sql, String program, String command, Map<String, String> environment,
			ToLongFunction<String> applied) {
		Optional<Program> shell = Program.find("sh");
		if (shell.isEmpty() || Program.find("psql").isEmpty() || Program.find(program).isEmpty()) {
			return Contender.missing(id, name);
		}
		// FETCH_COUNT lets psql hold a part of the rows only; COPY does so by itself.
		String psql = "psql -X -q -A -t -v FETCH_COUNT=10000 -h " + Address.HOST + " -p " + postgres.port() + " -U "
				+ PostgresServer.USER + " -c \"$SQL\" " + PostgresServer.USER;
		Map<String, String> all = new HashMap<>(environment);
		all.put("SQL", sql);
		return new Contender(id, name, service,
				() -> applied.applyAsLong(shell.get().run(null, all, List.of("-c", psql + " | " + command))));
	}

	/** A text as a part of a command, in SQL. */
	private static String bulk(String expression) {
		return "'$' || octet_length(" + expression + ") || E'\\r\\n' || " + expression + " || E'\\r\\n'";
	}

	/** A million rows, marked as committed already, which the first reader would do. */
	private static void fill(PostgresServer postgres) {
		postgres.run("CREATE TABLE products (sku text PRIMARY KEY, name text, price numeric, updated timestamptz)",
				"INSERT INTO products SELECT 'sku-' || lpad(n::text, 7, '0'), 'Product number ' || n,"
						+ " ((n % 100000) / 100.0)::numeric(10, 2), TIMESTAMPTZ '2026-11-01 00:00:00Z' + n * INTERVAL '1 second'"
						+ " FROM generate_series(0, " + (ROWS - 1) + ") n",
				"VACUUM (FREEZE, ANALYZE) products", "CHECKPOINT");
	}

	/** All hashes are there, and the last is whole. */
	private static void check(Bench bench) {
		bench.requireSize(ROWS);
		try (Jedis jedis = RedisServer.connect(bench.redis().address())) {
			Map<String, String> last = jedis.hgetAll("product:sku-0" + (ROWS - 1));
			if (!last.keySet().equals(Set.of("sku", "name", "price", "updated"))
					|| !("Product number " + (ROWS - 1)).equals(last.get("name"))) {
				throw new BenchmarkException("The last product is " + last);
			}
		}
	}

}
