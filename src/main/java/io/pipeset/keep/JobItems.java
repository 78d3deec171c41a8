package io.pipeset.keep;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.slab.Loss;
import io.pipeset.engine.slab.ResendRules;
import io.pipeset.engine.slab.Slab;
import io.pipeset.input.SpooledBody;
import io.pipeset.keep.OutcomeJournal.Outcomes;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.Operation;
import io.pipeset.record.OperationFinder;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.RowItem;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.mapping.Templates;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.Account;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobStatus;
import io.pipeset.report.Losses;
import io.pipeset.report.Outcome;
import io.pipeset.report.Results;
import io.pipeset.request.BodyLimitException;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobSettings;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * The records of an asynchronous job that were not applied. They are read from its body
 * and its outcome journal on disk, so their number is not limited.
 */
public final class JobItems implements Spool.Removable {

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private static final JsonFactory json = JsonFactory.builder()
		.disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
		.disable(StreamWriteFeature.FLUSH_PASSED_TO_STREAM)
		.rootValueSeparator("")
		.build();

	private static final int PIECE_BYTES = 8 << 10;

	private static final Loss NOT_SENT_AGAIN = new Loss(Loss.OF_SERVICE.code(), Loss.OF_SERVICE.message()
			+ "; it is not sent again, because that might leave other data, or because Redis does not allow the service to close its old connection");

	private static final Failure NO_EFFECT = new Failure("NO_EFFECT", "Redis ran it, and there was nothing to do",
			false);

	private final SpooledBody body;

	private final OutcomeJournal journal;

	private final JobSettings settings;

	private final JobLimits limits;

	private final MemoryBudget memory;

	private final Spool spool;

	private final int database;

	private final OperationFinder operations;

	private volatile Runnable whenEnded = () -> {
	};

	/** Set before the job runs. */
	private @Nullable EarlierOutcomes earlier;

	/**
	 * Whether the connections of earlier runs are fenced off; {@code null} without any.
	 */
	private @Nullable Boolean fenced;

	/** The connections of earlier runs. */
	private List<JournalConnection> connections = List.of();

	/** The removals of earlier runs, which the report does not count. */
	private List<Warning> removals = List.of();

	/** Whether all records were applied, so that nothing is kept. */
	private volatile boolean allApplied;

	/** Whether the files were removed. */
	private volatile boolean closed;

	public JobItems(SpooledBody body, OutcomeJournal journal, JobSettings settings, JobLimits limits,
			MemoryBudget memory, Spool spool, int database, OperationFinder operations) {
		this.operations = operations;
		this.spool = spool;
		this.database = database;
		this.body = body;
		this.journal = journal;
		this.settings = settings;
		this.limits = limits;
		this.memory = memory;
	}

	public JobSettings settings() {
		return this.settings;
	}

	public SpooledBody body() {
		return this.body;
	}

	public OutcomeJournal journal() {
		return this.journal;
	}

	/** The outcomes of earlier runs; {@code null} if the job is in its first one. */
	public @Nullable EarlierOutcomes earlier() {
		return this.earlier;
	}

	/** Starts a run of the job. */
	public void begins(JobStop stop, Account account) {
		this.journal.start(stop);
		account.setLog(this.journal);
		setFenced(account.losses());
		this.connections.forEach((connection) -> account.losses().server(connection.node(), connection.runId()));
	}

	/**
	 * Checks whether an earlier process had begun to remove keys by the setting
	 * {@code replace}.
	 * @param noted what the journal says
	 * @return a warning, which every report of the job has from now on; empty if none had
	 */
	List<Warning> findRemovals(RequestedChanges noted) {
		if (Boolean.TRUE.equals(noted.removing())) {
			this.removals = List.of(new Warning("REMOVED_EARLIER", null,
					"An earlier process of the job had begun to" + " remove keys of replace="
							+ this.settings.records().replace() + " when it ended. replaced does not count"
							+ " those. Unless the job completes, send all records again to remove the rest",
					null));
		}
		return this.removals;
	}

	/** Warnings of keys that earlier processes have removed. */
	public List<Warning> removals() {
		return this.removals;
	}

	/** The servers that earlier runs have written to. */
	public Set<String> earlierServers() {
		return this.connections.stream().map(JournalConnection::node).collect(Collectors.toSet());
	}

	/** Notes that the job begins to remove keys by the setting {@code replace}. */
	public void beginRemoving() {
		this.journal.note(new RequestedChanges(null, null, null, true));
	}

	private void setFenced(Losses losses) {
		if (this.fenced != null) {
			losses.fenced(this.fenced);
		}
	}

	/**
	 * Prepares the job to be resumed. A record that may have run stays unknown if sending
	 * it again might leave other data.
	 * @param sent the records that may have run, in their order
	 * @param fenced whether no command of earlier runs is in flight, so that records may
	 * be sent again at all
	 * @throws IOException if the journal cannot be read
	 */
	public void goOn(List<Slab> sent, boolean fenced) throws IOException {
		this.connections = this.journal.connections();
		this.fenced = (this.connections.isEmpty()) ? null : Boolean.valueOf(fenced);
		this.journal.resume(this.memory.open(new JobStop()));
		this.journal.noteIfPossible(new RequestedChanges(null, null, 0L, null));
		Account account = new Account(Results.NONE, 0, false);
		account.setLog(this.journal);
		sent.forEach((slab) -> slab.attempt().abandon());
		ResendRules.mark(sent, fenced, false);
		sent.forEach((slab) -> slab.settle(account, NOT_SENT_AGAIN));
		this.earlier = new EarlierOutcomes(this.journal.earlier(), this.journal.records());
	}

	/** Whether all records were applied. */
	boolean isEmpty() {
		return this.allApplied;
	}

	/** Whether the files were removed. */
	boolean isClosed() {
		return this.closed;
	}

	/**
	 * Ends the run and keeps the files, so that the next process can resume the job.
	 * @return {@code false} if it cannot, because the journal is incomplete
	 */
	public boolean stay() {
		this.journal.end();
		return this.journal.failure() == null;
	}

	/** Sets what runs when the job ends for good. */
	void whenEnded(Runnable step) {
		this.whenEnded = step;
	}

	/**
	 * Ends the job. Its files are kept while the spool has space for them.
	 * @param ran whether every record was applied, so that there are no items
	 */
	void ends(boolean ran, JobStatus status) {
		this.journal.end(status);
		this.whenEnded.run();
		this.allApplied = ran;
		this.spool.allowRemoval(this);
	}

	/** Keeps the files of a job that has ended in an earlier process. */
	void markEnded(boolean ran) {
		this.journal.end();
		this.allApplied = ran;
		this.spool.allowRemoval(this);
	}

	/**
	 * Checks whether the job can be resumed.
	 * @param memory holds the records that may have run
	 * @param sent receives the records that may have run, in their order
	 * @return the first record that may have run and must not run twice, as the beginning
	 * of a sentence; {@code null} if there is none
	 * @throws IOException if the files cannot be read
	 * @throws MemoryLimitException if there is not enough memory for the records that may
	 * have run
	 */
	public @Nullable String firstNotRepeatable(MemoryShare memory, List<Slab> sent) throws IOException {
		AtomicReference<@Nullable String> found = new AtomicReference<>();
		Record record = new Record(this.settings.records().recordDefaults(), memory);
		Outcomes outcomes = this.journal.outcomes(memory);
		try {
			this.body.reread(this.settings, this.limits.ofRecords(memory, this.database, this.operations),
					this.limits.ofInflatedBodies(), (records) -> {
						while (found.get() == null && record.index() + 1 < this.journal.records()
								&& records.read(record)) {
							if (outcomes.next().mayRunAgain() && record.rejection() == null) {
								this.settings.admit(record);
								addIfRepeatable(record, sent, memory, found);
							}
						}
					});
		}
		catch (MalformedBodyException | BodyLimitException ex) {
			// The job fails at the same record.
		}
		return found.get();
	}

	private void addIfRepeatable(Record record, List<Slab> sent, MemoryShare memory,
			AtomicReference<@Nullable String> found) {
		if (record.rejection() == null && !record.effect().isRepeatable()) {
			found.set("Record " + record.index() + " is " + describe(record));
		}
		else if (record.rejection() == null) {
			add(record, sent, memory);
		}
	}

	private void add(Record record, List<Slab> sent, MemoryShare memory) {
		if (!sent.isEmpty() && sent.get(sent.size() - 1).add(record)) {
			return;
		}
		Slab slab = new Slab(0, 0, memory);
		slab.clear(false, false);
		sent.add(slab);
		if (!slab.add(record)) {
			slab.ensureCapacity(record);
			slab.add(record);
		}
	}

	private static String describe(Record record) {
		Operation operation = record.operation();
		return operation + ((operation.effect().isRepeatable()) ? " with options" : "");
	}

	/**
	 * Counts the records of the body, as far as it can be read.
	 * @throws IOException if the body cannot be read
	 */
	long countRecords(MemoryShare memory) throws IOException {
		AtomicLong count = new AtomicLong();
		Record record = new Record(this.settings.records().recordDefaults(), memory);
		try {
			this.body.reread(this.settings, this.limits.ofRecords(memory, this.database, OperationFinder.TABLE),
					this.limits.ofInflatedBodies(), (records) -> {
						while (records.read(record)) {
							count.incrementAndGet();
						}
					});
		}
		catch (MalformedBodyException | BodyLimitException | MemoryLimitException ex) {
			// The job did not read any further.
		}
		return count.get();
	}

	/**
	 * Why the records cannot be written.
	 * @return a sentence; {@code null} if they can be
	 */
	public @Nullable String missing() {
		IOException failure = this.journal.failure();
		if (failure != null) {
			return "The outcomes of the job's records could not be kept. " + failure.getMessage();
		}
		return (this.closed && !this.allApplied)
				? "The job's records were removed because other jobs needed the disk space (pipeset.spool.max-bytes)"
				: null;
	}

	/**
	 * Writes records as NDJSON, in their order. Each line can be posted again, and has
	 * the {@code error} of its record. If there is not enough memory for a record, the
	 * list ends with an error for it.
	 * @param statuses the outcomes of the records to write, or how they compare;
	 * {@code null} for those that the caller has to check
	 * @param out receives the lines
	 * @throws IOException if the records cannot be read, or the lines cannot be written
	 */
	public void write(@Nullable Set<String> statuses, OutputStream out) throws IOException {
		Set<String> wanted = (statuses != null) ? statuses : (this.settings.check().verify() != null)
				? Set.of("different", "missing") : Set.of("rejected", "unknown", "unprocessed");
		if (this.allApplied) {
			return;
		}
		try (MemoryShare memory = this.memory.open(new JobStop());
				JsonGenerator lines = json.createGenerator(ObjectWriteContext.empty(), out)) {
			AtomicLong index = new AtomicLong();
			Record record = new Record(this.settings.records().recordDefaults(), memory);
			record.keepWholeRows();
			AtomicLong lastRow = new AtomicLong();
			Map<String, Object> settings = new LinkedHashMap<>();
			try {
				Outcomes outcomes = this.journal.outcomes(memory);
				this.body.reread(this.settings, this.limits.ofRecords(memory, this.database, this.operations),
						this.limits.ofInflatedBodies(), (records) -> {
							while (records.read(record)) {
								JournalEntry entry = outcomes.next();
								// The records of an unreadable row share one item.
								boolean listed = record.rejection() != null && record.row() == lastRow.get();
								lastRow.set(record.row());
								if (wanted.contains(entry.status()) && !listed) {
									long names = nameBytes(record);
									memory.reserve(names);
									write(record, entry, records, settings, lines);
									memory.release(names);
								}
								index.incrementAndGet();
							}
						});
			}
			catch (MemoryLimitException ex) {
				lines.writeStartObject();
				writeError(Outcome.UNPROCESSED,
						new Failure(Rejection.TOO_LARGE, "The list ends here, because " + ex.getMessage(), false),
						index.get(), 0, lines);
			}
		}
		catch (MalformedBodyException | BodyLimitException ex) {
			// The job failed at the same record.
		}
	}

	private void write(Record record, JournalEntry entry, RecordReader records, Map<String, Object> settings,
			JsonGenerator line) {
		Failure failure = Objects.requireNonNullElse(entry.failure(), NO_EFFECT);
		boolean retryable = failure.retryable() && (!entry.mayRunAgain() || record.effect().isRepeatable());
		line.writeStartObject();
		if (record.id() != null) {
			line.writeStringProperty("id", record.id());
		}
		if (record.rejection() == null) {
			writeCommand(record, line);
		}
		else {
			writeRow(record, records, settings, line);
		}
		writeError(entry.outcome(), new Failure(failure.code(), failure.message(), retryable), record.index(),
				record.line(), line);
	}

	/**
	 * Writes a row that could not become a record, with the settings by which it was
	 * read, so that it can be corrected and posted again. They are left out where the row
	 * alone would have another meaning, or is not whole.
	 */
	private void writeRow(Record record, RecordReader records, Map<String, Object> all, JsonGenerator line) {
		RowItem item = record.item();
		Object raw = record.raw();
		if (raw instanceof Map<?, ?> bytes) {
			line.writeName("raw");
			line.writeStartObject();
			bytes.forEach((name, value) -> line.writeStringProperty(String.valueOf(name), String.valueOf(value)));
			line.writeEndObject();
		}
		if (!(raw instanceof String text)) {
			return;
		}
		boolean element = this.body.format() == RecordFormat.JSON
				&& !this.settings.records().mapping().rows().entries();
		line.writeStringProperty("raw", (element && item == null) ? text.replaceAll("[\\r\\n]", " ") : text);
		String code = Objects.requireNonNull(record.rejection()).code();
		if (record.isOfWrongDatabase() || code.equals(Rejection.TOO_LARGE)) {
			return;
		}
		String settings = (item != null) ? item.settings() : rowSettings(record, records, element, all);
		if (settings != null && settings.length() <= RowItem.MAX_SETTINGS) {
			line.writeName("settings");
			line.writeRawValue(settings);
		}
	}

	/**
	 * The settings by which a row was read, as JSON; {@code null} if it needs others.
	 * @param settings those that all rows of the list share; filled by the first row
	 */
	private @Nullable String rowSettings(Record record, RecordReader records, boolean lines,
			Map<String, Object> settings) {
		if (settings.isEmpty()) {
			Map<String, String> ofBody = records.rowSettings();
			if (ofBody == null) {
				return null;
			}
			settings.put(RowItem.TYPE, ((lines) ? RecordFormat.NDJSON : this.body.format()).mediaType());
			this.settings.toRowTexts()
				.forEach((name, values) -> settings.put(name, (values.size() == 1) ? values.get(0) : values));
			settings.putAll(ofBody);
		}
		Templates templates = this.settings.records().mapping().templates();
		if (templates != null && templates.hasIndex()) {
			settings.put(RowItem.INDEX, String.valueOf(record.row() - 1));
		}
		return mapper.writeValueAsString(settings);
	}

	private static void writeError(Outcome outcome, Failure failure, long index, long number, JsonGenerator line) {
		line.writeName("error");
		line.writeStartObject();
		line.writeStringProperty("status", outcome.label());
		line.writeStringProperty("code", failure.code());
		line.writeStringProperty("message", failure.message());
		line.writeBooleanProperty("retryable", failure.retryable());
		line.writeNumberProperty("index", index);
		if (number > 0) {
			line.writeNumberProperty("line", number);
		}
		line.writeEndObject();
		line.writeEndObject();
		line.writeRaw('\n');
	}

	private void writeCommand(Record record, JsonGenerator line) {
		boolean text = true;
		for (int i = 0; i < record.argumentCount(); i++) {
			text &= Encoding.isUtf8(record.source(i), record.offset(i), record.length(i));
		}
		line.writeStringProperty("op", record.operation().word());
		Encoding encoding = (text) ? Encoding.UTF8 : Encoding.BASE64;
		if (encoding != Encoding.UTF8 || this.settings.records().recordDefaults().encoding() != Encoding.UTF8) {
			line.writeStringProperty("encoding", encoding.label());
		}
		if (record.command() != record.operation()) {
			// HSET with an expiry is a script: its text, number of keys, key.
			line.writeName("key");
			writeArgument(record, 2, text, line);
			line.writeStringProperty(record.expiryMember(), record.expiryText());
			line.writeName("fields");
			line.writeStartObject();
			for (int i = 4; i < record.argumentCount(); i += 2) {
				line.writeName(name(record, i, text));
				writeArgument(record, i + 1, text, line);
			}
			line.writeEndObject();
			return;
		}
		int first = 0;
		// Operations whose first argument is not a key have args only.
		if (record.operation().firstKey() == 0) {
			line.writeName("key");
			writeArgument(record, first++, text, line);
		}
		if (first < record.argumentCount()) {
			line.writeName("args");
			line.writeStartArray();
			for (int i = first; i < record.argumentCount(); i++) {
				writeArgument(record, i, text, line);
			}
			line.writeEndArray();
		}
	}

	/** Writes an argument in pieces, because it may be large and the reader slow. */
	private static void writeArgument(Record record, int argument, boolean text, JsonGenerator line) {
		byte[] source = record.source(argument);
		if (text) {
			line.writeUTF8String(source, record.offset(argument), record.length(argument));
		}
		else {
			line.writeBinary(source, record.offset(argument), record.length(argument));
		}
	}

	/** The memory of the largest name, or of a row, which are held as text twice. */
	private static long nameBytes(Record record) {
		if (record.rejection() != null) {
			return (record.rawBytes() > PIECE_BYTES) ? 2 * record.rawBytes() : 0;
		}
		boolean named = record.command() != record.operation();
		long most = 0;
		for (int i = 4; named && i < record.argumentCount(); i += 2) {
			most = Math.max(most, record.length(i));
		}
		return (most > PIECE_BYTES) ? 4 * most : 0;
	}

	/** An argument as the name of a JSON member. */
	private static String name(Record record, int argument, boolean text) {
		ByteBuffer bytes = ByteBuffer.wrap(record.source(argument), record.offset(argument), record.length(argument));
		return ((text) ? StandardCharsets.UTF_8.decode(bytes)
				: StandardCharsets.US_ASCII.decode(Base64.getEncoder().encode(bytes)))
			.toString();
	}

	@Override
	public @Nullable String client() {
		return this.body.bytes().client();
	}

	/** Removes the body and the journal. */
	@Override
	public void close() {
		this.closed = true;
		this.spool.forget(this);
		this.journal.close();
		this.body.close();
	}

}
