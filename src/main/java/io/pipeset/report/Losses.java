package io.pipeset.report;

import java.util.HashMap;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** The losses of Redis that a job met, as far as its report has to speak of them. */
public final class Losses {

	private @Nullable Boolean fenced;

	private long unconfirmed;

	private boolean several;

	private int firstMaster = -1;

	private int lastMaster = -1;

	/** The applied records of each master, by the failovers that had been seen before. */
	private final Map<Integer, Long> applied = new HashMap<>();

	Losses() {
	}

	/**
	 * Takes note of whether a lost connection's commands were kept from running later.
	 * @param fenced {@code false} where they may still run
	 */
	public synchronized void fenced(boolean fenced) {
		this.fenced = fenced && !Boolean.FALSE.equals(this.fenced);
	}

	/**
	 * Says that there are several masters, so that records have no former one in common.
	 */
	public synchronized void ofSeveralMasters() {
		this.several = true;
	}

	/**
	 * Takes note of the server that is master now.
	 * @param switches how many failovers have been seen
	 */
	public synchronized void master(int switches) {
		this.firstMaster = (this.firstMaster < 0) ? switches : this.firstMaster;
		this.lastMaster = Math.max(this.lastMaster, switches);
	}

	/**
	 * Takes note of records that ran on a master.
	 * @param switches how many failovers had been seen when its connection was lent
	 * @param unconfirmed how many are unknown, as too few replicas have confirmed them
	 */
	public synchronized void ran(int switches, long applied, long unconfirmed) {
		this.unconfirmed += unconfirmed;
		if (applied > 0) {
			this.applied.merge(switches, applied, Long::sum);
		}
	}

	public synchronized Found found() {
		if (this.lastMaster <= this.firstMaster) {
			return new Found(this.fenced, null, null);
		}
		Long former = (this.several) ? null
				: this.applied.entrySet()
					.stream()
					.filter((master) -> master.getKey() < this.lastMaster)
					.mapToLong(Map.Entry::getValue)
					.sum();
		return new Found(this.fenced, this.lastMaster - this.firstMaster, former);
	}

	/** The unknown records that ran, and that too few replicas have confirmed. */
	public synchronized long unconfirmed() {
		return this.unconfirmed;
	}

	/**
	 * The losses that a job met.
	 *
	 * @param fenced whether all commands that were on their way on a lost connection were
	 * kept from running later; {@code null} if there were none
	 * @param failovers how often another server became master while the job ran;
	 * {@code null} if none did
	 * @param appliedByFormerMasters the applied records that no replica was asked for,
	 * and that the master of now may not have; {@code null} if there was no failover, and
	 * in a cluster
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Found(@Nullable Boolean fenced, @Nullable Integer failovers, @Nullable Long appliedByFormerMasters) {

	}

}
