package io.pipeset.job;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Set;

import io.pipeset.job.OutcomeJournal.Entry;
import io.pipeset.job.OutcomeJournal.Outcomes;
import io.pipeset.job.input.BodyLimitException;
import io.pipeset.job.input.SpooledBody;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.lane.JobStop;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.Record;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.report.Outcome;
import io.pipeset.report.OutcomeLog;
import io.pipeset.spool.Spool;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;

/**
 * All records of an asynchronous job that did not run as asked, however many: from its
 * body and the journal of its outcomes, which are kept on disk for that.
 */
public final class JobItems implements Spool.Kept {

	private static final JsonFactory json = JsonFactory.builder()
		.disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
		.disable(StreamWriteFeature.FLUSH_PASSED_TO_STREAM)
		.rootValueSeparator("")
		.build();

	private final SpooledBody body;

	private final OutcomeJournal journal;

	private final JobSettings settings;

	private final JobLimits limits;

	private final MemoryBudget memory;

	private final Spool spool;

	private volatile boolean none;

	private volatile boolean removed;

	JobItems(SpooledBody body, OutcomeJournal journal, JobSettings settings, JobLimits limits, MemoryBudget memory,
			Spool spool) {
		this.spool = spool;
		this.body = body;
		this.journal = journal;
		this.settings = settings;
		this.limits = limits;
		this.memory = memory;
	}

	OutcomeLog log() {
		return this.journal;
	}

	/**
	 * The job has ended.
	 * @param ran whether every record ran, so that nothing has to be kept
	 */
	void ends(boolean ran) {
		this.journal.ends();
		this.none = ran;
		if (ran) {
			close();
		}
		else {
			this.spool.mayRemove(this);
		}
	}

	/**
	 * The reason for which the records cannot be written.
	 * @return a sentence; {@code null} while they can be
	 */
	public @Nullable String missing() {
		IOException failure = this.journal.failure();
		if (failure != null) {
			return "The outcomes of the job's records could not be kept. " + failure.getMessage();
		}
		return (this.removed) ? "The job's records were removed to make room for other jobs (pipeset.spool.max-bytes)"
				: null;
	}

	/**
	 * Writes records as NDJSON, in their order, each of them so that it can be posted
	 * again, and with the {@code error} that it met.
	 * @param wanted their outcomes
	 * @param out takes the lines
	 * @throws IOException if they cannot be read, or written
	 */
	public void write(Set<Outcome> wanted, OutputStream out) throws IOException {
		if (this.none) {
			return;
		}
		try (MemoryShare memory = this.memory.open(new JobStop());
				JsonGenerator lines = json.createGenerator(ObjectWriteContext.empty(), out)) {
			Record record = new Record(this.settings.recordDefaults(), memory);
			Outcomes outcomes = this.journal.outcomes(memory);
			this.body.reread(this.settings, this.limits.ofRecords(memory), this.limits.maxInflatedBytes().toBytes(),
					(records) -> {
						while (records.read(record)) {
							Entry entry = outcomes.next();
							if (entry != null && wanted.contains(entry.outcome())) {
								write(record, entry, lines);
								lines.writeRaw('\n');
							}
						}
					});
		}
		catch (MalformedBodyException | BodyLimitException ex) {
			// The job ended there as well.
		}
	}

	private void write(Record record, Entry entry, JsonGenerator line) {
		line.writeStartObject();
		if (record.id() != null) {
			line.writeStringProperty("id", record.id());
		}
		if (record.rejection() == null) {
			writeCommand(record, line);
		}
		line.writeName("error");
		line.writeStartObject();
		line.writeStringProperty("status", entry.outcome().label());
		line.writeStringProperty("code", entry.failure().code());
		line.writeStringProperty("message", entry.failure().message());
		line.writeBooleanProperty("retryable", entry.failure().retryable());
		line.writeNumberProperty("index", record.index());
		if (record.line() > 0) {
			line.writeNumberProperty("line", record.line());
		}
		line.writeEndObject();
		line.writeEndObject();
	}

	private void writeCommand(Record record, JsonGenerator line) {
		boolean text = true;
		for (int i = 0; i < record.argumentCount(); i++) {
			text &= text(record, i) != null;
		}
		line.writeStringProperty("op", record.operation().toString());
		Encoding encoding = (text) ? Encoding.UTF8 : Encoding.BASE64;
		if (encoding != Encoding.UTF8 || this.settings.recordDefaults().encoding() != Encoding.UTF8) {
			line.writeStringProperty("encoding", encoding.label());
		}
		if (record.command() != record.operation()) {
			// HSET with a time to live: a script, the number of its keys, the key.
			line.writeStringProperty("key", show(record, 2, text));
			line.writeStringProperty("ttl", record.text(3));
			line.writeName("fields");
			line.writeStartObject();
			for (int i = 4; i < record.argumentCount(); i += 2) {
				line.writeStringProperty(show(record, i, text), show(record, i + 1, text));
			}
			line.writeEndObject();
			return;
		}
		int first = 0;
		// The keys of some stand behind their number: these have arguments alone.
		if (record.operation().firstKey() == 0) {
			line.writeStringProperty("key", show(record, first++, text));
		}
		if (first < record.argumentCount()) {
			line.writeName("args");
			line.writeStartArray();
			for (int i = first; i < record.argumentCount(); i++) {
				line.writeString(show(record, i, text));
			}
			line.writeEndArray();
		}
	}

	private static String show(Record record, int argument, boolean text) {
		String shown = (text) ? text(record, argument) : null;
		if (shown != null) {
			return shown;
		}
		ByteBuffer bytes = Base64.getEncoder()
			.encode(ByteBuffer.wrap(record.source(argument), record.offset(argument), record.length(argument)));
		return StandardCharsets.US_ASCII.decode(bytes).toString();
	}

	/** The argument as a string; {@code null} if it is not UTF-8. */
	private static @Nullable String text(Record record, int argument) {
		try {
			return StandardCharsets.UTF_8.newDecoder()
				.decode(ByteBuffer.wrap(record.source(argument), record.offset(argument), record.length(argument)))
				.toString();
		}
		catch (CharacterCodingException ex) {
			return null;
		}
	}

	/** Removes the body and the journal. */
	@Override
	public void close() {
		this.removed = !this.none;
		this.spool.isRemoved(this);
		this.journal.close();
		this.body.close();
	}

}
