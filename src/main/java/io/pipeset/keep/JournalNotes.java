package io.pipeset.keep;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A file with the failures to which an outcome journal refers, the connections of its
 * job, the changes that callers have requested, and the end of the job. Each is a line of
 * JSON, written at once. Failures and connections are in memory as well while the job
 * runs. Equal failures share one number.
 */
final class JournalNotes {

	private static final int MAX_FAILURES = 10_000;

	private static final int MAX_CHARACTERS = 1 << 20;

	private static final int MAX_CODES = 1000;

	private static final String OTHER = "(other)";

	/** The memory of a failure without its characters. */
	private static final int ENTRY_BYTES = 256;

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private final SpoolFile file;

	private final List<JournalEntry> failures = new ArrayList<>();

	private final Map<JournalEntry, Integer> numbers = new HashMap<>();

	private final Set<JournalConnection> connections = new LinkedHashSet<>();

	private int characters;

	JournalNotes(SpoolFile file) {
		this.file = file;
	}

	/**
	 * Writes a connection, unless it is in the file already.
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	void add(JournalConnection connection) throws SpoolException {
		if (this.connections.add(connection)) {
			append(new Note(null, connection, null, null));
		}
	}

	/**
	 * Writes requested changes.
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	void add(RequestedChanges asked) throws SpoolException {
		append(new Note(null, null, asked, null));
	}

	/**
	 * Writes the end of the job.
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	void add(JobStatus ended) throws SpoolException {
		append(new Note(null, null, null, ended));
	}

	/**
	 * The number of a failure, which is written if it is new. If the list or the memory
	 * is full, the failure loses its message, or even its code.
	 * @param memory the memory for failures
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	int number(JournalEntry entry, MemoryShare memory) throws SpoolException {
		Integer known = this.numbers.get(entry);
		if (known != null) {
			return known;
		}
		int length = failure(entry).message().length();
		if (this.failures.size() < MAX_FAILURES && this.characters + length <= MAX_CHARACTERS
				&& memory.tryTakeForReport(bytes(entry))) {
			this.characters += length;
			return add(entry);
		}
		JournalEntry coded = withoutMessage(entry, failure(entry).code());
		if (this.numbers.containsKey(coded)
				|| (this.failures.size() < MAX_FAILURES + MAX_CODES && memory.tryTakeForReport(bytes(coded)))) {
			return add(coded);
		}
		return add(withoutMessage(entry, OTHER));
	}

	private static Failure failure(JournalEntry entry) {
		return Objects.requireNonNull(entry.failure());
	}

	private static JournalEntry withoutMessage(JournalEntry entry, String code) {
		return new JournalEntry(entry.outcome(),
				new Failure(code, "The job has too many messages: this one is not kept", failure(entry).retryable()),
				entry.last());
	}

	private static long bytes(JournalEntry entry) {
		return ENTRY_BYTES + 2L * (failure(entry).code().length() + failure(entry).message().length());
	}

	private int add(JournalEntry entry) throws SpoolException {
		Integer known = this.numbers.get(entry);
		if (known != null) {
			return known;
		}
		append(new Note(entry, null, null, null));
		this.failures.add(entry);
		this.numbers.put(entry, this.failures.size() - 1);
		return this.failures.size() - 1;
	}

	private void append(Note note) throws SpoolException {
		this.file.writeAt(this.file.bytes(),
				ByteBuffer.wrap((mapper.writeValueAsString(note) + '\n').getBytes(StandardCharsets.UTF_8)));
	}

	/** Clears the lists in memory, and closes the file. */
	void clear() {
		this.failures.clear();
		this.numbers.clear();
		this.connections.clear();
		this.characters = 0;
		this.file.closeChannel();
	}

	/**
	 * Loads the lists that another process has written. Messages for which no memory is
	 * free are left out, because the lists hold their memory until the job ends and so
	 * must not wait for it.
	 * @param memory the memory for failures
	 * @throws IOException if the file cannot be read, or is broken
	 */
	void load(MemoryShare memory) throws IOException {
		clear();
		Map<JournalEntry, JournalEntry> coded = new HashMap<>();
		for (Note note : read()) {
			JournalEntry entry = note.failure();
			if (entry != null && memory.tryTakeForReport(bytes(entry))) {
				this.numbers.putIfAbsent(entry, this.failures.size());
				this.failures.add(entry);
				this.characters += failure(entry).message().length();
			}
			else if (entry != null) {
				// Not in the map: other failures of this code would get the message that
				// the file has for this number.
				String code = (coded.size() < MAX_CODES) ? failure(entry).code() : OTHER;
				this.failures.add(coded.computeIfAbsent(withoutMessage(entry, code), (first) -> first));
			}
			else if (note.connection() != null) {
				this.connections.add(note.connection());
			}
		}
	}

	/** The failures in memory, in the order of their numbers. */
	List<JournalEntry> failures() {
		return List.copyOf(this.failures);
	}

	/**
	 * Reads the failures.
	 * @param memory the memory for the failures
	 * @return the failures in the order of their numbers
	 * @throws IOException if the file cannot be read, or is broken
	 */
	List<JournalEntry> failures(MemoryShare memory) throws IOException {
		List<JournalEntry> entries = read().stream().map(Note::failure).filter(Objects::nonNull).toList();
		memory.reserve(entries.stream().mapToLong(JournalNotes::bytes).sum());
		return entries;
	}

	/**
	 * Reads the connections.
	 * @throws IOException if the file cannot be read, or is broken
	 */
	List<JournalConnection> connections() throws IOException {
		return read().stream().map(Note::connection).filter(Objects::nonNull).toList();
	}

	/**
	 * All changes that callers have requested, merged into one.
	 * @throws IOException if the file cannot be read, or is broken
	 */
	RequestedChanges asked() throws IOException {
		RequestedChanges all = RequestedChanges.NONE;
		for (Note note : read()) {
			all = (note.asked() != null) ? all.merge(note.asked()) : all;
		}
		return all;
	}

	/**
	 * The last status of the job; {@code null} if it has not ended.
	 * @throws IOException if the file cannot be read, or is broken
	 */
	@Nullable JobStatus ended() throws IOException {
		return read().stream().map(Note::ended).filter(Objects::nonNull).findFirst().orElse(null);
	}

	/**
	 * Removes an incomplete last line, which a killed process has left.
	 * @throws IOException if the file cannot be read, or is broken elsewhere
	 */
	void truncateToWholeLines() throws IOException {
		long whole = read(new ArrayList<>());
		if (whole < this.file.bytes()) {
			this.file.truncate(whole);
		}
	}

	private List<Note> read() throws IOException {
		List<Note> notes = new ArrayList<>();
		read(notes);
		return notes;
	}

	/** Reads the complete lines, and returns their size in bytes. */
	private long read(List<Note> notes) throws IOException {
		if (this.file.bytes() == 0) {
			return 0;
		}
		long whole = 0;
		try (BufferedReader lines = new BufferedReader(
				new InputStreamReader(this.file.open(), StandardCharsets.UTF_8))) {
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				long end = whole + line.getBytes(StandardCharsets.UTF_8).length + 1;
				if (end > this.file.bytes()) {
					break;
				}
				notes.add(mapper.readValue(line, Note.class));
				whole = end;
			}
		}
		catch (JacksonException ex) {
			throw new IOException("The list of its failures in the spool is broken", ex);
		}
		return whole;
	}

	/** Removes the file. */
	void close() {
		this.file.close();
	}

	/** A line of the file; one member is set. */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record Note(@Nullable JournalEntry failure, @Nullable JournalConnection connection,
			@Nullable RequestedChanges asked, @Nullable JobStatus ended) {

	}

}
