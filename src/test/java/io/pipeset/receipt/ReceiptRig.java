package io.pipeset.receipt;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.LaneRig;
import io.pipeset.engine.lane.LaneSettings;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotCalls;
import io.pipeset.engine.servers.Topology;
import io.pipeset.record.GeneratedRecords;
import io.pipeset.record.Record;
import io.pipeset.record.Slots;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;

import static org.awaitility.Awaitility.await;

/**
 * Takes the steps of receipts in the shared cluster one by one, like an instance of the
 * service.
 */
final class ReceiptRig {

	/** The slots that sweepers check, with the time of the next check. */
	static final String SLOTS = "pipeset:{receipts}:slots";

	static final Duration LONG = Duration.ofHours(1);

	private static final TestCluster cluster = TestCluster.shared();

	private final LaneRig lanes = new LaneRig(cluster.properties());

	private final SlotCalls calls = new SlotCalls(this.lanes.bean(RedisNodes.class));

	private final Receipts receipts = this.lanes.bean(Receipts.class);

	private int jobs;

	private int tags;

	private ReceiptRig() {
	}

	/** The rig that all tests of this JVM share. */
	static ReceiptRig shared() {
		return Shared.RIG;
	}

	Receipts receipts() {
		return this.receipts;
	}

	SlotCalls calls() {
		return this.calls;
	}

	/** A list of a master, in a slot that no other test moves. */
	String list(int master) {
		return "{" + cluster.tag(master, this.tags++) + "}queue";
	}

	/** An id for a job that pops from a list. */
	String job(byte[] list) {
		return this.receipts.jobId(String.format("0199a6f2-0000-7000-8000-%012x", this.jobs++ << 16), list);
	}

	/** Creates a receipt. */
	String opened(byte[] list) {
		String job = job(list);
		this.receipts.open(job, "none", list, LONG);
		return job;
	}

	/** Pops one of two values, and lets the receipt expire. */
	String expired(byte[] list) {
		push(list, 2);
		String job = opened(list);
		pop(job, list, 1);
		this.receipts.handOver(job, LONG, 1);
		expire(job);
		return job;
	}

	/** Lets the deadline pass, in both indexes that have it. */
	void expire(String job) {
		ReceiptKeys keys = ReceiptKeys.ofJob(job);
		run(keys.index(), "return {redis.call('ZADD', KEYS[1], 'XX', 0, ARGV[1])}", bytes(job));
		run(bytes(SLOTS), "return {redis.call('ZADD', KEYS[1], 'XX', 0, ARGV[1])}", bytes(String.valueOf(keys.slot())));
	}

	void push(byte[] list, int count) {
		run(list, "for i = 0, ARGV[1] - 1 do redis.call('LPUSH', KEYS[1], 'v' .. i) end return {1}",
				bytes(String.valueOf(count)));
	}

	/** Pops like a lane. */
	void pop(String job, byte[] list, int count) {
		this.calls.evalRepeatable(ReceiptKeys.ofJob(job).slot(),
				"for i = 1, ARGV[1] do redis.call('LMOVE', KEYS[1], KEYS[2], 'RIGHT', 'LEFT') end return {1}",
				List.of(list, this.receipts.listOf(job)), List.of(bytes(String.valueOf(count))));
	}

	/** Runs the records of a job that pops reliably. */
	LaneContext popInLanes(String list, String job, int count) {
		LaneContext context = this.lanes.context(
				new LaneSettings(1000, FlushPolicy.buffered(100), 2, LONG, 0, 0, Duration.ofSeconds(1), false, true),
				this.lanes.threads());
		Lanes lanes = new Lanes(context);
		GeneratedRecords records = GeneratedRecords.moves(list, this.receipts.listOf(job), count);
		Record record = new Record();
		while (records.read(record)) {
			lanes.add(record);
		}
		lanes.drain();
		lanes.close();
		return context;
	}

	List<String> values(byte[] list) {
		return run(list, "return redis.call('LRANGE', KEYS[1], 0, -1)").stream()
			.map((value) -> text((byte[]) value))
			.toList();
	}

	private List<Object> run(byte[] key, String lua, byte[]... arguments) {
		return this.calls.evalRepeatable(Slots.of(key, 0, key.length), lua, List.of(key), List.of(arguments));
	}

	/** Waits until the service knows that the slots of lists have no master. */
	void awaitUnserved(List<byte[]> lists) {
		RedisNodes nodes = this.lanes.bean(RedisNodes.class);
		await().until(() -> {
			nodes.refresh();
			Topology owners = nodes.owners();
			return lists.stream().allMatch((list) -> owners.owner(Slots.of(list, 0, list.length)) == null);
		});
	}

	/** Sweeps repeatedly. */
	void sweepUntil(Callable<Boolean> done) {
		sweepUntil(done, Duration.ofMillis(100));
	}

	/** Sweeps repeatedly, with pauses. */
	void sweepUntil(Callable<Boolean> done, Duration pause) {
		ReceiptSweeper sweeper = sweeper(pause);
		try {
			await().until(done);
		}
		finally {
			sweeper.stop();
		}
	}

	/** Starts another sweeper, like that of another instance. */
	ReceiptSweeper sweeper() {
		return sweeper(Duration.ofMillis(100));
	}

	private ReceiptSweeper sweeper(Duration pause) {
		ReceiptSweeper sweeper = new ReceiptSweeper(this.receipts, new ReceiptProperties(pause));
		sweeper.start();
		return sweeper;
	}

	/** The keys of receipts, without the record of slots that have any. */
	static List<String> receiptKeys() {
		return cluster.nodes()
			.flatMap((node) -> node.client().keys("pipeset:*").stream())
			.filter((key) -> !key.startsWith("pipeset:{receipts}:") && !isOfJobs(key))
			.toList();
	}

	/** Whether a service of another test may write a key at any time. */
	static boolean isOfJobs(String key) {
		return key.startsWith("pipeset:instance:") || key.startsWith("pipeset:job");
	}

	/** How many errors of a kind a node has returned. */
	static long errors(TestRedis node, String code) {
		return Arrays.stream(node.client().info("errorstats").split("\r\n"))
			.filter((line) -> line.startsWith("errorstat_" + code + ":"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf('=') + 1)))
			.findFirst()
			.orElse(0);
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	/** Opens the rig when it is first used. */
	private static final class Shared {

		private static final ReceiptRig RIG = new ReceiptRig();

		static {
			Runtime.getRuntime().addShutdownHook(new Thread(RIG.lanes::close, "receipt-rig-end"));
		}

	}

}
