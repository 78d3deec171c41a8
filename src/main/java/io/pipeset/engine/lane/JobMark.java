package io.pipeset.engine.lane;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;

import io.pipeset.engine.pipeline.Backoff;
import io.pipeset.engine.pipeline.Fence;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.StopSignal;
import io.pipeset.engine.pipeline.call.ClientIdentity;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotCalls;
import io.pipeset.engine.servers.SlotHash;
import io.pipeset.engine.slab.LaneMark;
import io.pipeset.engine.slab.Slab;
import io.pipeset.record.Record;
import io.pipeset.record.Slots;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mark of a job with {@code exactlyOnce} in Redis: a hash that says for each lane up
 * to which record its batches ran. Each batch writes it in its own transaction. So it
 * also tells after a lost connection, a failover or the end of a process what ran. The
 * hash names the process that owns the job, and the connections on which it may write.
 */
public final class JobMark {

	private static final Logger logger = LoggerFactory.getLogger(JobMark.class);

	/** Names the rule by which records are divided among lanes. */
	private static final String VERSION = "1";

	private static final String PREFIX = "pipeset:once:";

	/** How long repeats of the request of an ended job can still find its mark. */
	private static final Duration KEPT_FOR = Duration.ofDays(1);

	private static final String OWNER = "owner";

	private static final String LANES = "lanes";

	private static final String REQUEST = "request";

	private static final String CONNECTION = "connection:";

	private final String owner = UUID.randomUUID().toString();

	private final RedisNodes nodes;

	private final SlotCalls calls;

	private final JobStop stop;

	private final Duration timeout;

	private final String jobId;

	private final String request;

	private final boolean resumed;

	private final LaneMark[] lanes;

	/** The value that each lane knows Redis to have, replaced by its lane alone. */
	private final AtomicReferenceArray<String> acknowledged;

	/** The connections that are noted. */
	private final Set<ClientIdentity> connections = ConcurrentHashMap.newKeySet();

	/** What the mark of each lane was when this process began. */
	private final String[] ranBefore;

	/** Up to which record each lane had run then; -1 for none. */
	private final long[] ranUpTo;

	/** The lanes whose records are known to be those that ran before. */
	private final boolean[] compared;

	/** What each lane has acknowledged, to count what Redis has lost of it. */
	private final LaneHistory[] histories;

	/** Whether a process has created the mark before. */
	private final boolean begun;

	private int opened;

	private @Nullable SlotHash hash;

	private volatile boolean created;

	private volatile boolean removed;

	private volatile boolean lost;

	/** Whether Redis did not answer at the end. */
	private boolean unsure;

	private long repliesLost;

	/**
	 * Creates a mark that is not in Redis yet.
	 * @param jobId the id of the job
	 * @param request identifies what a repeat of the request must have as well; empty if
	 * no repeat can continue the job
	 * @param lanes how many lanes a single server has; a cluster has one
	 * @param timeout the timeout of the job
	 * @param resumed whether this is not the first run of the job
	 * @param begun whether an earlier run has created the mark
	 */
	public JobMark(RedisNodes nodes, String jobId, String request, int lanes, Duration timeout, JobStop stop,
			boolean resumed, boolean begun) {
		this.begun = begun;
		this.nodes = nodes;
		this.calls = new SlotCalls(nodes, timeout, StopSignal.NEVER);
		this.jobId = jobId;
		this.request = request;
		this.timeout = timeout;
		this.stop = stop;
		this.resumed = resumed;
		int count = (nodes.isCluster()) ? 1 : lanes;
		this.lanes = new LaneMark[count];
		this.acknowledged = new AtomicReferenceArray<>(count);
		this.ranBefore = new String[count];
		this.ranUpTo = new long[count];
		this.compared = new boolean[count];
		this.histories = new LaneHistory[count];
	}

	/** The number of the next lane that is opened. A cluster has only lane 0. */
	synchronized int open() {
		return (this.nodes.isCluster()) ? 0 : this.opened++;
	}

	LaneMark lane(int number) {
		return this.lanes[number];
	}

	/**
	 * Creates the mark before the first record is sent, or takes it over from a process
	 * that has ended.
	 * @param first the first record, which gives the mark its slot in a cluster
	 * @return {@code false} if the job must not run; it is stopped
	 * @throws RedisCallException if Redis does not answer
	 */
	public boolean begin(Record first) {
		String name = PREFIX + this.jobId + ((this.nodes.isCluster()) ? Slots.tag(first.slot()) : "");
		this.hash = new SlotHash(this.calls, (this.nodes.isCluster()) ? first.slot() : Slots.NONE, name);
		for (int lane = 0; lane < this.lanes.length; lane++) {
			this.lanes[lane] = new LaneMark(name, lane);
			this.acknowledged.set(lane, LaneMark.NONE);
			this.ranBefore[lane] = LaneMark.NONE;
			this.ranUpTo[lane] = -1;
			this.histories[lane] = new LaneHistory();
		}
		Map<String, String> found = (this.resumed) ? fields() : Map.of();
		// A process may have died while it created the mark, and then has sent nothing.
		boolean whole = found.containsKey(LANES);
		if (!whole && this.begun) {
			markRemoved();
			return false;
		}
		if (!whole && !found.isEmpty()) {
			hash().set(OWNER, this.owner);
		}
		this.created = (whole) ? takeOver() : create();
		return this.created;
	}

	/** Whether Redis may have lost something, because it did not answer at the end. */
	public boolean isUnsure() {
		return this.unsure;
	}

	/** Whether an earlier run, or the request before a repeat, has begun the job. */
	public boolean isContinued() {
		return this.begun;
	}

	/** Whether the job may have run in part, in this run or an earlier one. */
	public boolean hasBegun() {
		return this.created || this.begun;
	}

	/** Whether the mark is in Redis, so that the job can be continued later. */
	public boolean isThere() {
		return hasBegun() && !this.removed;
	}

	/** Creates the mark. A command that arrives late changes no field that is there. */
	private boolean create() {
		hash().setIfAbsent(OWNER, this.owner);
		hash().setIfAbsent(REQUEST, this.request);
		for (int lane = 0; lane < this.lanes.length; lane++) {
			hash().setIfAbsent(Integer.toString(lane), LaneMark.NONE);
		}
		// Last, because it says that the mark is whole.
		hash().setIfAbsent(LANES, partitioning());
		return true;
	}

	/**
	 * Takes the job over: names the new owner, then ends all connections of the former
	 * one, then reads what ran.
	 */
	private boolean takeOver() {
		if (!isOfThisRequest(fields())) {
			return false;
		}
		hash().set(OWNER, this.owner);
		boolean ended = fields().keySet()
			.stream()
			.allMatch((field) -> !field.startsWith(CONNECTION) || isEnded(field.substring(CONNECTION.length())));
		if (!ended) {
			this.stop.stop(Cause.REDIS_LOST, "Commands of the job's former process may still be in flight, and Redis"
					+ " did not close its connections (CLIENT KILL): send the request again later");
			return false;
		}
		Map<String, String> fields = fields();
		for (int lane = 0; lane < this.lanes.length; lane++) {
			String value = fields.get(Integer.toString(lane));
			if (value == null) {
				markRemoved();
				return false;
			}
			this.ranBefore[lane] = value;
			this.ranUpTo[lane] = LaneMark.last(value);
			this.acknowledged.set(lane, value);
		}
		return true;
	}

	private boolean isOfThisRequest(Map<String, String> fields) {
		if (partitioning().equals(fields.get(LANES)) && this.request.equals(fields.get(REQUEST))) {
			return true;
		}
		this.stop.stop(Cause.IDEMPOTENCY_KEY_REUSED,
				"The job has begun with other settings, or with another version of the"
						+ " service, which divides its records otherwise: nothing was run now");
		return false;
	}

	private String partitioning() {
		return VERSION + ' ' + this.lanes.length;
	}

	/** Ends a connection of the former process, unless its server runs no more. */
	private boolean isEnded(String connection) {
		String[] parts = connection.split(" ", -1);
		RedisNode node = node(parts[0]);
		return node == null || node.fence(Long.parseLong(parts[2]), parts[1])
			.await(this.timeout, true, StopSignal.NEVER) == Fence.State.CONFIRMED;
	}

	/**
	 * The server of a connection; {@code null} if it is no master, so that what it still
	 * runs is lost.
	 */
	private @Nullable RedisNode node(String name) {
		if (!this.nodes.isCluster()) {
			return this.calls.master(Slots.NONE);
		}
		RedisNode found = this.nodes.find(name);
		if (found == null) {
			this.nodes.refresh();
			found = this.nodes.find(name);
		}
		return found;
	}

	/**
	 * Whether an earlier process has run a record. Call this for each record that is not
	 * rejected, before the record is sent. The job is stopped if the records are others.
	 */
	public boolean hasRun(Record record) {
		int lane = Lanes.number(record, this.lanes.length);
		if (record.index() > this.ranUpTo[lane]) {
			requireSame(lane);
			return false;
		}
		this.lanes[lane].add(record);
		return true;
	}

	/**
	 * Stops the job if the records of a lane are not those that have run. What is in the
	 * spool cannot differ.
	 */
	private void requireSame(int lane) {
		if (!this.compared[lane] && !this.request.isEmpty()) {
			this.compared[lane] = true;
			long last = this.ranUpTo[lane];
			if (!LaneMark.value(last, this.lanes[lane].digest()).equals(this.ranBefore[lane])) {
				this.stop.stop(Cause.IDEMPOTENCY_KEY_REUSED, "Record " + last + " or an earlier one differs from the"
						+ " record that the job has run: nothing more was run");
			}
		}
	}

	/**
	 * Notes a new connection of the job, and checks that the job still has this owner and
	 * that Redis has lost nothing. Call this before the first batch on it.
	 * @return {@code false} if nothing may be sent; the job is stopped
	 * @throws RedisCallException if Redis does not answer
	 */
	boolean accept(@Nullable ClientIdentity connection) {
		if (connection == null || connection.runId() == null) {
			this.stop.stop(Cause.REDIS_REFUSES, "exactlyOnce needs CLIENT ID and INFO, which Redis does not permit."
					+ " Let the service's user run them");
			return false;
		}
		if (this.connections.contains(connection)) {
			return true;
		}
		hash().checkTransactions();
		String[] before = acknowledged();
		hash().set(field(connection), "1");
		Map<String, String> fields = fields();
		boolean accepted = isWhole(fields, before);
		if (accepted) {
			this.connections.add(connection);
		}
		return accepted;
	}

	/** The field of a connection, with its server, the run of the server and its id. */
	private static String field(ClientIdentity connection) {
		return CONNECTION + connection.node() + ' ' + connection.runId() + ' ' + connection.clientId();
	}

	private String[] acknowledged() {
		String[] values = new String[this.lanes.length];
		Arrays.setAll(values, this.acknowledged::get);
		return values;
	}

	/**
	 * Stops the job if another process has it now, or if Redis has lost what a lane knows
	 * to have run.
	 */
	private boolean isWhole(Map<String, String> fields, String[] known) {
		String found = fields.get(OWNER);
		if (found == null) {
			markRemoved();
			return false;
		}
		if (!found.equals(this.owner)) {
			this.stop.stop(Cause.CANCELLED, "Another process has taken the job over");
			return false;
		}
		for (int lane = 0; lane < known.length; lane++) {
			String value = fields.get(Integer.toString(lane));
			if (value == null) {
				markRemoved();
				return false;
			}
			if (LaneMark.last(value) < LaneMark.last(known[lane])) {
				this.lost = true;
				this.stop.stop(Cause.REDIS_LOST, "Redis has lost records that had run, after a restart or failover");
				return false;
			}
		}
		return true;
	}

	private void markRemoved() {
		this.removed = true;
		this.stop.stop(Cause.REDIS_LOST, "The mark of the job (" + hash()
				+ ") was removed from Redis, by a FLUSHALL or another client: what runs exactly once cannot be told"
				+ " any more");
	}

	/**
	 * Settles the batch of a lane whose replies were lost. Call this only when nothing of
	 * it can run any more.
	 * @return {@code false} if it is not known whether the batch ran
	 */
	boolean resolve(int lane, Slab slab) {
		try {
			// Other lanes go on while the mark is read.
			String[] known = acknowledged();
			Map<String, String> fields = new Backoff(this.timeout, StopSignal.NEVER).ask(this::fields,
					RedisCallException::isTransient);
			boolean whole = isWhole(fields, known);
			if (!whole && !this.lost) {
				return false;
			}
			String value = String.valueOf(fields.get(Integer.toString(lane)));
			boolean ran = value.equals(slab.markValue());
			if (!ran) {
				// Without MULTI, its commands would have run one by one.
				hash().checkTransactions();
			}
			addRepliesLost(slab.attempt().resolve(ran));
			if (ran) {
				acknowledge(lane, value, slab.count() - slab.errors().count());
			}
			return whole;
		}
		catch (RedisCallException ex) {
			return false;
		}
	}

	/** Notes that a batch of a lane was answered. */
	void acknowledge(int lane, Slab slab) {
		String refusal = slab.errors().markRefusal();
		if (refusal != null) {
			this.stop.stop(Cause.REDIS_REFUSES,
					"Redis refused the mark of the job (" + hash() + "), so that nothing of the batch ran: " + refusal);
		}
		if (slab.hasRun()) {
			acknowledge(lane, slab.markValue(), slab.count() - slab.errors().count());
			if (slab.isMarkMissing()) {
				markRemoved();
			}
		}
	}

	private void acknowledge(int lane, String value, int ran) {
		this.histories[lane].add(LaneMark.last(value), ran);
		this.acknowledged.set(lane, value);
	}

	/**
	 * Checks at the end of the job that Redis has all that ran. Otherwise the job is
	 * stopped.
	 * @param complete whether all records were read
	 * @param settled whether it is known of each batch that it ran or not
	 */
	public void end(boolean complete, boolean settled) {
		for (int lane = 0; complete && this.created && lane < this.lanes.length; lane++) {
			requireSame(lane);
		}
		if (!this.created || this.removed || this.lost) {
			return;
		}
		try {
			Map<String, String> fields = new Backoff(this.timeout, StopSignal.NEVER).ask(this::fields,
					RedisCallException::isTransient);
			if (isWhole(fields, acknowledged()) && settled) {
				// Other jobs use them now, and may go on when this one is taken over.
				hash().remove(this.connections.stream().map(JobMark::field).toList());
			}
		}
		catch (RedisCallException ex) {
			this.unsure = true;
			this.stop.stop(Cause.REDIS_LOST,
					"Redis did not say at the end whether it has all that ran. " + ex.getMessage());
		}
	}

	/**
	 * Counts the records of this run that ran, and that Redis has lost since.
	 * @return 0 if Redis has not lost any, or does not say
	 */
	public long lostRecords() {
		if (!this.lost) {
			return 0;
		}
		try {
			Map<String, String> fields = fields();
			long records = 0;
			for (int lane = 0; lane < this.lanes.length; lane++) {
				String value = fields.get(Integer.toString(lane));
				records += this.histories[lane].since((value != null) ? LaneMark.last(value) : -1);
			}
			return records;
		}
		catch (RedisCallException ex) {
			return 0;
		}
	}

	/**
	 * Lets the mark expire, because the job has ended. Repeats of its request still find
	 * it for a while.
	 */
	public void expire() {
		if (this.created) {
			expire(hash());
		}
	}

	/** Lets the mark of a job expire that has ended without a further run. */
	public static void expire(RedisNodes nodes, String jobId) {
		// In a cluster, only a record tells its slot.
		if (!nodes.isCluster()) {
			expire(new SlotHash(new SlotCalls(nodes), Slots.NONE, PREFIX + jobId));
		}
	}

	private static void expire(SlotHash hash) {
		try {
			hash.expire(KEPT_FOR);
		}
		catch (RedisCallException ex) {
			logger.debug("The mark {} stays in Redis", hash, ex);
		}
	}

	private synchronized void addRepliesLost(long records) {
		this.repliesLost += records;
	}

	/** How many records ran whose replies are lost. */
	public synchronized long repliesLost() {
		return this.repliesLost;
	}

	private SlotHash hash() {
		return Objects.requireNonNull(this.hash);
	}

	private Map<String, String> fields() {
		return hash().fields();
	}

}
