package io.pipeset.web.failover;

import java.io.InputStream;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.OwnThread;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A job that pushes numbers to lists while servers change. Each push has to run at most
 * once, and behind the earlier ones of its list, as the lists show afterwards.
 */
final class PushedLists {

	private static final int LISTS = 2_000;

	/** After so many records without an end of the change, replicas may catch up. */
	private static final int FAST = 20_000_000;

	private final AtomicBoolean changing = new AtomicBoolean(true);

	private final Service service;

	/** How many records come behind the change. */
	private final int rest;

	/** The end of each line. */
	private final String end;

	private int records;

	PushedLists(Service service, int rest) {
		this(service, rest, 0);
	}

	/**
	 * Pads each record with spaces, so that few of them are on the way to the service.
	 */
	PushedLists(Service service, int rest, int spaces) {
		this.service = service;
		this.rest = rest;
		this.end = "\"]" + " ".repeat(spaces);
	}

	/**
	 * Uploads records until the change is over, and some more, and at least as many as
	 * asked for; answers the report.
	 */
	JsonNode pushWhile(int least, String settings, BooleanSupplier begun, Runnable change) throws Exception {
		CompletableFuture<Void> changed = OwnThread.run(() -> {
			try {
				await().until(begun::getAsBoolean);
				change.run();
			}
			finally {
				this.changing.set(false);
			}
		});
		long[] end = { Long.MAX_VALUE };
		InputStream lines = Lines.until((i) -> {
			if (end[0] == Long.MAX_VALUE && !this.changing.get()) {
				end[0] = Math.max(i + this.rest, least);
			}
			if (i > FAST && i % 10_000 == 0) {
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
			}
			this.records = (int) Math.min(i, end[0]);
			return (i < end[0]) ? "[\"RPUSH\",\"list" + i % LISTS + "\",\"" + i + this.end : null;
		});
		try {
			Answer answer = this.service.send(this.service.uploading("/v1/jobs?" + settings, Service.NDJSON, lines)
				.timeout(Duration.ofMinutes(10)));
			return (answer.status() == 200) ? answer.report() : answer.json().get("job");
		}
		finally {
			changed.get(10, TimeUnit.MINUTES);
		}
	}

	/** How many records were uploaded. */
	int records() {
		return this.records;
	}

	/**
	 * The counts of a job while masters change. A master that takes no part may call the
	 * cluster down for some ms, as it hears of the change, and reject what is on its way:
	 * an older message of the new master can reach it behind a newer one.
	 */
	static Counts counts(JsonNode report) {
		Counts counts = Answer.counts(report);
		assertThat(counts.rejected()).as(report.toString()).isEqualTo(report.at("/errorCodes/CLUSTERDOWN").asLong());
		return counts;
	}

	/** The numbers in the lists, none of which is there twice or behind a later one. */
	static BitSet numbers(Function<String, RedisCommands<String, String>> at) {
		BitSet numbers = new BitSet();
		for (int list = 0; list < LISTS; list++) {
			String key = "list" + list;
			List<Integer> values = at.apply(key).lrange(key, 0, -1).stream().map(Integer::valueOf).toList();
			assertThat(List.copyOf(new TreeSet<>(values))).as(key).isEqualTo(values);
			values.forEach(numbers::set);
		}
		return numbers;
	}

	/**
	 * The numbers that are called applied and are not there. Those that are there are
	 * called applied or unknown.
	 */
	static BitSet missing(JsonNode job, BitSet there) {
		Counts counts = Answer.counts(job);
		BitSet applied = new BitSet();
		applied.set(0, (int) counts.received());
		BitSet notRun = new BitSet();
		job.get("items").forEach((item) -> {
			applied.clear(item.get("index").asInt());
			notRun.set(item.get("index").asInt(), !item.get("status").asString().equals("unknown"));
		});
		assertThat(applied.cardinality()).as("applied by the items of %s", counts).isEqualTo((int) counts.applied());
		notRun.and(there);
		assertThat(notRun.cardinality()).as("not run by the report, and yet there").isZero();
		applied.andNot(there);
		return applied;
	}

}
