package io.pipeset.report;

import java.util.HashMap;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** The connection losses and failovers of a job that its report shows. */
public final class Losses {

	private @Nullable Boolean fenced;

	private long unconfirmed;

	private boolean severalMasters;

	private int firstMaster = -1;

	private int lastMaster = -1;

	/** The run id of each server. */
	private final Map<String, String> runIds = new HashMap<>();

	private @Nullable String restarted;

	/** Runs when a restart or another master is seen; {@code null} for nothing. */
	private volatile @Nullable Runnable listener;

	/** The applied records of each master, by the number of failovers before it. */
	private final Map<Integer, Long> applied = new HashMap<>();

	Losses() {
	}

	/**
	 * Adds a lost connection.
	 * @param fenced whether its commands were prevented from running later; {@code false}
	 * if they may still run
	 */
	public synchronized void fenced(boolean fenced) {
		this.fenced = fenced && !Boolean.FALSE.equals(this.fenced);
	}

	/**
	 * Notes that there are several masters, so that no count of records applied by former
	 * masters is reported.
	 */
	public synchronized void ofSeveralMasters() {
		this.severalMasters = true;
	}

	/**
	 * Adds the current master.
	 * @param switches how many failovers have been seen
	 */
	public void master(int switches) {
		if (isOther(switches)) {
			tellListener();
		}
	}

	private synchronized boolean isOther(int switches) {
		boolean other = this.lastMaster >= 0 && switches > this.lastMaster;
		this.firstMaster = (this.firstMaster < 0) ? switches : this.firstMaster;
		this.lastMaster = Math.max(this.lastMaster, switches);
		return other;
	}

	private void tellListener() {
		Runnable told = this.listener;
		if (told != null) {
			told.run();
		}
	}

	/**
	 * Sets what runs when a restart or another master is seen, before anything is sent
	 * there.
	 * @param listener {@code null} for nothing
	 */
	public void onLoss(@Nullable Runnable listener) {
		this.listener = listener;
	}

	/**
	 * Adds records that ran on a master.
	 * @param switches how many failovers had been seen when its connection was lent
	 * @param applied how many count as applied
	 * @param unconfirmed how many count as unknown because too few replicas have
	 * confirmed them
	 */
	public synchronized void ran(int switches, long applied, long unconfirmed) {
		this.unconfirmed += unconfirmed;
		if (applied > 0) {
			this.applied.merge(switches, applied, Long::sum);
		}
	}

	/**
	 * Adds a server to which the job has, or had, a connection.
	 * @param runId the run id of the server's process; {@code null} if it is not known
	 */
	public void server(String name, @Nullable String runId) {
		if (runId != null && isRestarted(name, runId)) {
			tellListener();
		}
	}

	private synchronized boolean isRestarted(String name, String runId) {
		String known = this.runIds.putIfAbsent(name, runId);
		boolean other = known != null && !known.equals(runId);
		this.restarted = (other) ? name : this.restarted;
		return other;
	}

	/**
	 * A server that was restarted while the job ran, and may have lost writes;
	 * {@code null} if none is known.
	 */
	public synchronized @Nullable String restarted() {
		return this.restarted;
	}

	public synchronized Found found() {
		if (this.lastMaster <= this.firstMaster) {
			return new Found(this.fenced, null, null);
		}
		Long former = (this.severalMasters) ? null
				: this.applied.entrySet()
					.stream()
					.filter((master) -> master.getKey() < this.lastMaster)
					.mapToLong(Map.Entry::getValue)
					.sum();
		return new Found(this.fenced, this.lastMaster - this.firstMaster, former);
	}

	/** How many unknown records ran and were confirmed by too few replicas. */
	public synchronized long unconfirmed() {
		return this.unconfirmed;
	}

	/**
	 * The losses of a job in its report.
	 *
	 * @param fenced whether all commands in flight on lost connections were prevented
	 * from running later; {@code null} if there were none
	 * @param failovers how often another server became master during the job;
	 * {@code null} for never
	 * @param appliedByFormerMasters how many applied records ran on former masters, so
	 * that the current master may not have them; {@code null} if there was no failover,
	 * and in a cluster
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Found(@Nullable Boolean fenced, @Nullable Integer failovers, @Nullable Long appliedByFormerMasters) {

	}

}
