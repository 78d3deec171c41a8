package io.pipeset.job;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

import io.pipeset.engine.script.Scripts;
import io.pipeset.job.JobRefusedException.Reason;
import io.pipeset.job.input.BodyLimitException;
import io.pipeset.job.input.ByteLimit;
import io.pipeset.job.input.JobInput;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.job.spool.Spool;
import io.pipeset.record.KeyPrefixes;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.ReservedKeys;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who calls the service, and what of it: the one place that says what a job may
 * do. It travels with the job, which belongs to it by its name. Every refusal names the
 * client, the property and what that allows.
 */
public final class Client {

	/** The name of whoever calls where there are no clients. */
	public static final String NONE = "none";

	/** The service itself, which has keys that are for nobody else. */
	public static final Client SERVICE = new Client("service", EnumSet.allOf(Operation.class), KeyPrefixes.ANY,
			EnumSet.allOf(Right.class), Limits.NONE, false);

	private static final Rejection RESERVED = new Rejection(Rejection.FORBIDDEN,
			"a key of the record begins with 'pipeset:', where the service keeps what is its own");

	private final String name;

	private final Set<Operation> operations;

	private final KeyPrefixes keys;

	private final Set<Right> rights;

	private final Limits limits;

	/** Whether there are other clients, to which it leaves a share of what all have. */
	private final boolean shares;

	private final ByteLimit bodies;

	private final Rejection foreignKey;

	/**
	 * A client.
	 * @param name a name of a bounded set: it is a tag of meters
	 * @param operations the operations of its records
	 * @param keys the keys of its records
	 * @param shares whether there are other clients
	 */
	public Client(String name, Set<Operation> operations, KeyPrefixes keys, Set<Right> rights, Limits limits,
			boolean shares) {
		this.name = name;
		this.operations = Collections.unmodifiableSet(operations);
		this.keys = keys;
		this.rights = Collections.unmodifiableSet(rights);
		this.limits = limits;
		this.shares = shares;
		this.bodies = new ByteLimit(property("limits.max-bytes"), limits.maxBytes);
		this.foreignKey = new Rejection(Rejection.FORBIDDEN, "a key of the record is not among those of the client '"
				+ name + "', which begin with " + keys + " (" + property("key-prefixes") + ")");
	}

	/**
	 * Whoever calls where there are no clients.
	 * @param scripts whether it may load and run scripts
	 */
	public static Client anybody(boolean scripts) {
		EnumSet<Right> rights = EnumSet.allOf(Right.class);
		if (!scripts) {
			rights.remove(Right.SCRIPTS);
		}
		return new Client(NONE, EnumSet.allOf(Operation.class), KeyPrefixes.ANY, rights, Limits.NONE, false);
	}

	/** The name, which is no secret. */
	public String name() {
		return this.name;
	}

	/** The keys of its records. */
	public KeyPrefixes keys() {
		return this.keys;
	}

	/**
	 * The most that it may have of something that all clients share: a quarter is left to
	 * others, where there are any.
	 * @param all what there is for all of them
	 */
	public long share(long all) {
		return (this.shares) ? all - all / 4 : all;
	}

	/** The same of places. */
	public int share(int all) {
		return (int) share((long) all);
	}

	/** Its share of a spool; {@code null} if it may have all of it. */
	public Spool.@Nullable Share share(Spool spool) {
		return (this.shares) ? new Spool.Share(this.name, share(spool.maxBytes())) : null;
	}

	/**
	 * The jobs that it may have at once, uploaded for later, waiting or running.
	 * @param running the jobs of all clients that may run at once
	 */
	public int maxJobs(int running) {
		return (isOwnShare()) ? share(running) : this.limits.maxJobs;
	}

	/**
	 * The reason for that bound, for messages.
	 * @param running the jobs of all clients that may run at once
	 */
	public String maxJobsReason(int running) {
		return (isOwnShare())
				? " of which pipeset.limits.max-running-jobs=" + running + " leaves it three quarters, unless "
						+ property("limits.max-jobs") + " says otherwise"
				: " as many as " + property("limits.max-jobs") + " allows";
	}

	private boolean isOwnShare() {
		return this.shares && this.limits.maxJobs == Limits.NONE.maxJobs;
	}

	/** The largest body of a job. */
	public ByteLimit ofBodies() {
		return this.bodies;
	}

	/**
	 * Requires a right.
	 * @throws JobRefusedException if the client does not have it
	 */
	public void require(Right right) {
		if (!this.rights.contains(right)) {
			throw new JobRefusedException(Reason.FORBIDDEN, missing(right));
		}
	}

	private String missing(Right right) {
		if (this.name.equals(NONE)) {
			return Scripts.FORBIDDEN;
		}
		return "The client '" + this.name + "' has no right to " + right.label() + ": " + property(right.label())
				+ " is false";
	}

	/**
	 * Requires all that is known of a job before it begins.
	 * @throws JobRefusedException if the client may not run it
	 */
	public void require(JobSettings settings, JobInput input) {
		if (input instanceof JobInput.Scanned) {
			require(Right.SWEEPS);
		}
		Operation operation = settings.operation();
		if (this.operations.isEmpty()
				|| (settings.only() && operation != null && !this.operations.contains(operation))) {
			throw forbidden("run " + ((operation != null) ? operation : "records"), "operations", operations());
		}
		if (settings.only() && operation == Operation.EVALSHA) {
			require(Right.SCRIPTS);
		}
		Long declared = input.declared();
		long records = Math.max(input.generated(), (declared != null) ? declared : 0);
		if (records > this.limits.maxRecords) {
			throw forbidden("run a job of " + records + " records", "limits.max-records", this.limits.maxRecords);
		}
	}

	/**
	 * Requires that a body that is there already is within the client's limit.
	 * @throws JobRefusedException if it is not
	 */
	public void requireBody(long bytes) {
		if (bytes > this.bodies.most()) {
			throw new JobRefusedException(Reason.FORBIDDEN, this.bodies.exceededBy("body", String.valueOf(bytes)));
		}
	}

	/**
	 * Requires that a pace is within the client's.
	 * @param perSecond records or keys a second; {@code null} for no limit
	 * @throws JobRefusedException if it is not
	 */
	public void requirePace(@Nullable Long perSecond) {
		if (((perSecond != null) ? perSecond : Long.MAX_VALUE) > this.limits.rateLimit) {
			throw forbidden(
					"have a job run " + ((perSecond != null) ? "at rateLimit=" + perSecond : "without rateLimit"),
					"limits.rate-limit", this.limits.rateLimit);
		}
	}

	/**
	 * The pace of a job.
	 * @param asked records or keys a second that are asked for; {@code null} for no limit
	 * @return that or the client's own, whichever is slower; {@code null} for no limit
	 */
	public @Nullable Long pace(@Nullable Long asked) {
		long pace = Math.min((asked != null) ? asked : Long.MAX_VALUE, this.limits.rateLimit);
		return (pace < Long.MAX_VALUE) ? pace : null;
	}

	/**
	 * Refuses a job that has more records than it may.
	 * @param read the records that were read
	 */
	public void requireRoom(long read) throws BodyLimitException {
		if (read == this.limits.maxRecords) {
			throw new BodyLimitException("The job has more than " + read + " records; " + property("limits.max-records")
					+ " allows " + read + ", and nothing behind them was run");
		}
	}

	/**
	 * Holds a record's operation against the client's.
	 * @return why it is refused, or {@code null}
	 */
	public @Nullable Rejection refuse(Record record) {
		Operation operation = record.operation();
		if (!this.operations.contains(operation)) {
			return new Rejection(Rejection.FORBIDDEN, "the record is a " + operation + ", and the client '" + this.name
					+ "' may run " + operations() + " (" + property("operations") + ")");
		}
		if (operation == Operation.EVALSHA && !this.rights.contains(Right.SCRIPTS)) {
			return new Rejection(Rejection.FORBIDDEN, missing(Right.SCRIPTS));
		}
		return null;
	}

	/**
	 * Holds a key of a record against the client's.
	 * @return why it is refused, or {@code null}
	 */
	@Nullable Rejection refuseKey(byte[] source, int offset, int length) {
		if (this != SERVICE && ReservedKeys.contains(source, offset, length)) {
			return RESERVED;
		}
		return (this.keys.contain(source, offset, length)) ? null : this.foreignKey;
	}

	private JobRefusedException forbidden(String what, String last, Object allowed) {
		return new JobRefusedException(Reason.FORBIDDEN,
				"The client '" + this.name + "' may not " + what + ": " + property(last) + " allows " + allowed);
	}

	/** The property that says something of this client. */
	String property(String last) {
		return "pipeset.clients." + this.name + "." + last;
	}

	private String operations() {
		return (this.operations.isEmpty()) ? "none"
				: this.operations.stream().map(Operation::toString).collect(Collectors.joining(", "));
	}

	@Override
	public String toString() {
		return this.name;
	}

	/** Things that a client may do beside running its records. */
	public enum Right {

		/** To load scripts, and run them. */
		SCRIPTS,
		/** To run a job on the keys that SCAN finds. */
		SWEEPS,
		/** To look at all keys, whoever they belong to. */
		ANALYSES,
		/** To load Redis as fast as it can, with keys of the service. */
		TUNINGS;

		/** The word for it in properties. */
		public String label() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

	/**
	 * The limits of a client. Those of the service hold as well.
	 *
	 * @param maxRecords the records of a job, 1 or more
	 * @param maxBytes the body of a job, as it comes and inflated, 1 or more
	 * @param rateLimit the records or keys a second of a job, 1 or more
	 * @param maxJobs the jobs that are uploaded for later, wait or run at once, 1 or more
	 */
	public record Limits(long maxRecords, long maxBytes, long rateLimit, int maxJobs) {

		static final Limits NONE = new Limits(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE);

	}

}
