package io.pipeset.run;

import io.pipeset.engine.script.Scripts;
import io.pipeset.input.JobInput;
import io.pipeset.record.Effect;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.Slots;
import io.pipeset.request.ArgumentLimits;
import io.pipeset.request.Client;
import io.pipeset.request.Client.Right;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.JobSettings;
import org.jspecify.annotations.Nullable;

/**
 * All checks of a job before it begins and of a parsed record before it is sent: the
 * operation of the request, the client's rights and keys, and the limits on arguments.
 */
public final class Admission {

	private static final Rejection CROSS_SLOT = new Rejection("CROSSSLOT",
			"The keys are in different slots of the cluster: give them the same hash tag, as in {user:1}:name,"
					+ " or send a record for each");

	private static final Rejection OTHER_SLOT = new Rejection("CROSSSLOT",
			"With exactlyOnce, all keys of a job must be in one slot of the cluster: give them the same hash tag, as in"
					+ " {job:1}:a and {job:1}:b, or post a job for each slot");

	private static final Rejection HOLDS_DATA = new Rejection(Rejection.FORBIDDEN,
			"exactlyOnce cannot run it, because its reply may hold data of Redis that would be lost with the reply, or"
					+ " because it is a script: send it without exactlyOnce");

	private static final Rejection POP = new Rejection(Rejection.FORBIDDEN,
			"an asynchronous job, or one with an Idempotency-Key, cannot pop values, because they would be lost if its"
					+ " report is lost: send the record without Prefer and Idempotency-Key, or pop with POST"
					+ " /piperpop/{count}?reliable=true");

	private final JobSettings settings;

	private final Scripts scripts;

	private final Client client;

	private final ArgumentLimits arguments;

	private final boolean oneSlot;

	private final boolean popsAllowed;

	/** The slot of all records of a job with {@code exactlyOnce} in a cluster. */
	private int onlySlot = Slots.NONE;

	/**
	 * Creates the checks of one job.
	 * @param client the client that owns the job
	 * @param oneSlot whether all keys of a record must be in one slot, as in a cluster
	 * @param popsAllowed whether the caller surely gets the values that records pop
	 */
	Admission(JobSettings settings, Scripts scripts, JobLimits limits, Client client, boolean oneSlot,
			boolean popsAllowed) {
		this.popsAllowed = popsAllowed;
		this.oneSlot = oneSlot;
		this.settings = settings;
		this.scripts = scripts;
		this.client = client;
		this.arguments = new ArgumentLimits(limits, client);
	}

	/**
	 * Checks what is known of a job before it begins: its input, operation and number of
	 * records.
	 * @throws JobRefusedException if the client may not run the job
	 */
	public static void require(Client client, JobSettings settings, JobInput input) {
		if (input instanceof JobInput.Scanned) {
			client.require(Right.SWEEPS);
		}
		Long declared = input.declared();
		client.require(settings, Math.max(input.generated(), (declared != null) ? declared : 0));
	}

	/**
	 * Checks a record.
	 * @param record a record from a reader, which may have rejected it
	 * @return why the record is refused; {@code null} if it may be sent
	 */
	@Nullable Rejection refuse(Record record) {
		if (record.rejection() == null) {
			this.settings.admit(record);
		}
		Rejection rejection = record.rejection();
		if (rejection == null) {
			rejection = this.client.refuse(record);
		}
		if (rejection == null) {
			this.scripts.admit(record);
		}
		if (rejection == null && !this.popsAllowed && record.effect() == Effect.POP) {
			return POP;
		}
		if (rejection == null) {
			rejection = this.arguments.refuse(record);
		}
		if (rejection == null && this.settings.batching().exactlyOnce()) {
			rejection = refuseOnce(record);
		}
		return (rejection == null && this.oneSlot && record.keyCount() > 1 && record.slot() == Slots.SEVERAL)
				? CROSS_SLOT : rejection;
	}

	private @Nullable Rejection refuseOnce(Record record) {
		if (record.effect().isPop() || record.effect().isDescribed() || record.operation() == Operation.EVALSHA
				|| record.returnsOldValue()) {
			return HOLDS_DATA;
		}
		if (!this.oneSlot || record.slot() == Slots.SEVERAL) {
			return null;
		}
		this.onlySlot = (this.onlySlot == Slots.NONE) ? record.slot() : this.onlySlot;
		return (record.slot() != this.onlySlot) ? OTHER_SLOT : null;
	}

	/** Whether a record has a key, and its first key is short enough for a report. */
	boolean isKeyListable(Record record) {
		return this.arguments.isKeyListable(record);
	}

}
