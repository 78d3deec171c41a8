package io.pipeset.request;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

import io.pipeset.engine.script.Scripts;
import io.pipeset.record.KeyPrefixes;
import io.pipeset.record.ModuleCommands;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.ReservedKeys;
import io.pipeset.request.JobRefusedException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * A client of the service: its rights, keys and limits. All checks of what a job may do
 * are here. A job belongs to the client of its request, and other clients cannot see it.
 * Every refusal names the client, the property and the values that it allows.
 */
public final class Client {

	/** The name of the one client that all callers are if no clients are configured. */
	public static final String NONE = "none";

	/** The service itself: only it may use {@link ReservedKeys reserved keys}. */
	public static final Client SERVICE = new Client("service", null, KeyPrefixes.ANY, UrlPrefixes.ANY,
			ClientSources.ANY, EnumSet.allOf(Right.class), Limits.NONE, false);

	/** The right to compare records with what Redis has, among the operations. */
	private static final String VERIFY = "VERIFY";

	private static final Rejection RESERVED = new Rejection(Rejection.FORBIDDEN,
			"a key of the record begins with 'pipeset:', which is reserved for the service: use another key");

	private final String name;

	/** The names of the operations of its records; {@code null} for all. */
	private final @Nullable Set<String> operations;

	private final KeyPrefixes keys;

	private final UrlPrefixes callbacks;

	private final ClientSources sources;

	private final Set<Right> rights;

	private final Limits limits;

	/** Whether there are other clients, so that it gets only a share of what all use. */
	private final boolean shares;

	private final ByteLimit bodies;

	private final Rejection foreignKey;

	/**
	 * Creates a client.
	 * @param name one of a bounded set of names, because it is a tag of meters
	 * @param operations the names of the operations that its records may have, in upper
	 * case; {@code null} for all
	 * @param keys the keys that its records may have
	 * @param callbacks the URLs that may get the reports of its jobs
	 * @param sources from where its records may be fetched
	 * @param shares whether there are other clients
	 */
	public Client(String name, @Nullable Set<String> operations, KeyPrefixes keys, UrlPrefixes callbacks,
			ClientSources sources, Set<Right> rights, Limits limits, boolean shares) {
		this.name = name;
		this.operations = (operations != null) ? Collections.unmodifiableSet(operations) : null;
		this.keys = keys;
		this.callbacks = callbacks;
		this.sources = sources;
		this.rights = Collections.unmodifiableSet(rights);
		this.limits = limits;
		this.shares = shares;
		this.bodies = new ByteLimit(property("limits.max-bytes"), limits.maxBytes);
		this.foreignKey = new Rejection(Rejection.FORBIDDEN, "a key of the record is not among those of the client '"
				+ name + "', which begin with " + keys + " (" + property("key-prefixes") + ")");
	}

	/**
	 * The client of all callers if no clients are configured.
	 * @param scripts whether callers may load and run scripts
	 */
	public static Client anybody(boolean scripts) {
		EnumSet<Right> rights = EnumSet.allOf(Right.class);
		if (!scripts) {
			rights.remove(Right.SCRIPTS);
		}
		return new Client(NONE, null, KeyPrefixes.ANY, UrlPrefixes.ANY, ClientSources.ANY, rights, Limits.NONE, false);
	}

	/** The name, which is not secret. */
	public String name() {
		return this.name;
	}

	/** The keys that its records may have. */
	public KeyPrefixes keys() {
		return this.keys;
	}

	/** The URLs that may get the reports of its jobs, if the service allows them too. */
	UrlPrefixes callbacks() {
		return this.callbacks;
	}

	/** From where its records may be fetched, if the service allows it too. */
	public ClientSources sources() {
		return this.sources;
	}

	/**
	 * The most that this client may use of something that all clients share: three
	 * quarters if there are other clients, otherwise all of it.
	 * @param all the amount that all clients share
	 */
	public long share(long all) {
		return (this.shares) ? all - all / 4 : all;
	}

	/** The same for a number of permits. */
	public int share(int all) {
		return (int) share((long) all);
	}

	/**
	 * The most jobs that it may have at once: uploading asynchronous ones, waiting ones
	 * and running ones.
	 * @param running how many jobs of all clients may run at once
	 */
	public int maxJobs(int running) {
		return (hasDefaultMaxJobs()) ? share(running) : this.limits.maxJobs;
	}

	/**
	 * Names the property that sets {@link #maxJobs}, for messages.
	 * @param running how many jobs of all clients may run at once
	 */
	public String maxJobsReason(int running) {
		return (hasDefaultMaxJobs())
				? " three quarters of pipeset.limits.max-running-jobs=" + running + ", because "
						+ property("limits.max-jobs") + " is not set"
				: " as many as " + property("limits.max-jobs") + " allows";
	}

	private boolean hasDefaultMaxJobs() {
		return this.shares && this.limits.maxJobs == Limits.NONE.maxJobs;
	}

	/** The limit on the size of a job's body. */
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
	 * Checks what is known of a job before it begins: its operation and number of
	 * records.
	 * @param records the records that are declared or generated; 0 if unknown
	 * @throws JobRefusedException if the client may not run the job
	 */
	public void require(JobSettings settings, long records) {
		requireReplace(settings);
		if (settings.check().verify() != null && this.operations != null && !this.operations.contains(VERIFY)) {
			throw forbidden("verify records, which reads", "operations", operations());
		}
		Operation operation = settings.records().operation();
		if (this.operations != null && (this.operations.isEmpty()
				|| (settings.records().only() && operation != null && !mayRun(operation)))) {
			throw forbidden("run " + ((operation != null) ? operation : "records"), "operations", operations());
		}
		if (settings.records().only() && operation == Operation.EVALSHA) {
			require(Right.SCRIPTS);
		}
		if (records > this.limits.maxRecords) {
			throw forbidden("run a job of " + records + " records", "limits.max-records", this.limits.maxRecords);
		}
	}

	/**
	 * Checks that a job may remove the keys that it does not write, if it has to. All
	 * keys are scanned for that.
	 * @throws JobRefusedException if the client may not
	 */
	public void requireReplace(JobSettings settings) {
		if (settings.records().replace() == null) {
			return;
		}
		require(Right.SWEEPS);
		if (!mayRun(Operation.UNLINK)) {
			throw forbidden("run UNLINK, which replace needs", "operations", operations());
		}
	}

	/**
	 * Checks the size of a stored body before its job runs again.
	 * @throws JobRefusedException if the body is larger than the client's limit
	 */
	public void requireBody(long bytes) {
		if (bytes > this.bodies.most()) {
			throw new JobRefusedException(Reason.FORBIDDEN, this.bodies.exceededBy("body", String.valueOf(bytes)));
		}
	}

	/**
	 * Checks a rate limit that the client asks for.
	 * @param perSecond records or keys per second; {@code null} for no limit
	 * @throws JobRefusedException if it is higher than the client's own limit
	 */
	public void requireRateLimit(@Nullable Long perSecond) {
		if (((perSecond != null) ? perSecond : Long.MAX_VALUE) > this.limits.rateLimit) {
			throw forbidden(
					"have a job run " + ((perSecond != null) ? "at rateLimit=" + perSecond : "without rateLimit"),
					"limits.rate-limit", this.limits.rateLimit);
		}
	}

	/**
	 * The rate limit of a job: the lower one of the requested and the client's own.
	 * @param requested records or keys per second; {@code null} for no limit
	 * @return records or keys per second; {@code null} for no limit
	 */
	public @Nullable Long rateLimit(@Nullable Long requested) {
		long limit = Math.min((requested != null) ? requested : Long.MAX_VALUE, this.limits.rateLimit);
		return (limit < Long.MAX_VALUE) ? limit : null;
	}

	/**
	 * Checks that a job may have another record.
	 * @param read the number of records before it
	 * @throws BodyLimitException if they are as many as the client's jobs may have
	 */
	public void requireNextRecord(long read) throws BodyLimitException {
		if (read == this.limits.maxRecords) {
			throw new BodyLimitException("The job has more than " + read + " records; " + property("limits.max-records")
					+ " allows " + read + ", and no later record was run");
		}
	}

	/**
	 * Checks the operation of a record.
	 * @return why the record is refused; {@code null} if the client may run it
	 */
	public @Nullable Rejection refuse(Record record) {
		Operation operation = record.operation();
		if (!mayRun(operation)) {
			return new Rejection(Rejection.FORBIDDEN, "the record is a " + operation + ", and the client '" + this.name
					+ "' may run " + operations() + " (" + property("operations") + ")");
		}
		if (operation == Operation.EVALSHA && !this.rights.contains(Right.SCRIPTS)) {
			return new Rejection(Rejection.FORBIDDEN, missing(Right.SCRIPTS));
		}
		return (operation.hasSureKeys() || this.keys == KeyPrefixes.ANY) ? null : refuseUnsureKeys(operation);
	}

	/** Refuses an operation that may reach keys which its records do not name. */
	private @Nullable Rejection refuseUnsureKeys(Operation operation) {
		boolean index = ModuleCommands.isIndex(operation.toString());
		return (this.operations != null && !index) ? null : new Rejection(Rejection.FORBIDDEN,
				"the record is a " + operation + ", which may concern other keys than it names, and the client '"
						+ this.name + "' may use those that begin with " + this.keys + " (" + property("key-prefixes")
						+ ")" + ((index) ? "" : "; if all of them are meant, name it in " + property("operations")));
	}

	/**
	 * Checks a key of a record.
	 * @return why the record is refused; {@code null} if the client may use the key
	 */
	@Nullable Rejection refuseKey(byte[] source, int offset, int length) {
		if (this != SERVICE && ReservedKeys.contains(source, offset, length)) {
			return RESERVED;
		}
		return (this.keys.contain(source, offset, length)) ? null : this.foreignKey;
	}

	private JobRefusedException forbidden(String action, String property, Object allowed) {
		return new JobRefusedException(Reason.FORBIDDEN,
				"The client '" + this.name + "' may not " + action + ": " + property(property) + " allows " + allowed);
	}

	/** The full name of a property of this client. */
	public String property(String property) {
		return "pipeset.clients." + this.name + "." + property;
	}

	private boolean mayRun(Operation operation) {
		return this.operations == null || this.operations.contains(operation.toString());
	}

	private String operations() {
		return (this.operations == null) ? "all"
				: (this.operations.isEmpty()) ? "none" : String.join(", ", this.operations);
	}

	@Override
	public String toString() {
		return this.name;
	}

	/** What a client may do in addition to running its own records. */
	public enum Right {

		/** To load and run scripts. */
		SCRIPTS,
		/** To run a job on the keys that SCAN finds. */
		SWEEPS,
		/** To analyse all keys in Redis, including those of other clients. */
		ANALYSES,
		/** To run tunings, which load Redis as fast as possible, with reserved keys. */
		TUNINGS;

		/** The name of the right in properties. */
		public String label() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

	/**
	 * The limits of a client. Those of the service apply as well.
	 *
	 * @param maxRecords the most records of a job, 1 or more
	 * @param maxBytes the largest body of a job in bytes, both as received and inflated,
	 * 1 or more
	 * @param rateLimit the most records or keys of a job per second, 1 or more
	 * @param maxJobs the most jobs at once that upload asynchronously, wait or run, 1 or
	 * more
	 */
	public record Limits(long maxRecords, long maxBytes, long rateLimit, int maxJobs) {

		static final Limits NONE = new Limits(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE);

	}

}
