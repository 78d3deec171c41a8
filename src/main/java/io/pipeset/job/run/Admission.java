package io.pipeset.job.run;

import io.pipeset.engine.script.Scripts;
import io.pipeset.job.ArgumentLimits;
import io.pipeset.job.Client;
import io.pipeset.job.JobLimits;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.record.Effect;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/**
 * The last check of a parsed record, in one place: the request's operation, what its
 * client may do, and the limits on arguments.
 */
final class Admission {

	private static final Rejection CROSS_SLOT = new Rejection("CROSSSLOT",
			"The keys are in different slots of the cluster: give them the same hash tag, as in {user:1}:name,"
					+ " or send a record for each");

	private static final Rejection POP = new Rejection(Rejection.FORBIDDEN,
			"an asynchronous job, or one with an Idempotency-Key, takes no values out of Redis, which would be lost with"
					+ " its report: send the record without these headers, or pop by POST"
					+ " /piperpop/{count}?reliable=true");

	private final JobSettings settings;

	private final Scripts scripts;

	private final Client client;

	private final ArgumentLimits arguments;

	/** Whether all keys of a record have to be in one slot. */
	private final boolean oneSlot;

	private final boolean popsAllowed;

	/**
	 * The check of one job.
	 * @param client the client whose job it is
	 * @param oneSlot whether all keys of a record have to be in one slot, as in a cluster
	 * @param popsAllowed whether somebody waits for what records take out of Redis
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
	 * Holds a record against all rules.
	 * @param record a record as its reader left it, which may have rejected it
	 * @return why the record is refused, or {@code null}
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
		return (rejection == null && this.oneSlot && record.keyCount() > 1 && record.slot() == Slots.SEVERAL)
				? CROSS_SLOT : rejection;
	}

	/** Whether a record has a first key, and a report may carry it. */
	boolean isKeyListable(Record record) {
		return this.arguments.isKeyListable(record);
	}

}
