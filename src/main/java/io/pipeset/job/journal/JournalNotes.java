package io.pipeset.job.journal;

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
import io.pipeset.job.memory.MemoryShare;
import io.pipeset.job.spool.SpoolException;
import io.pipeset.job.spool.SpoolFile;
import io.pipeset.report.Item.Failure;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The failures that a journal of outcomes refers to, and the connections that its job has
 * used, a line of JSON each, written as soon as they are met. While the job runs they are
 * in memory as well. Equal failures have one place.
 */
final class JournalNotes {

	private static final int MOST_FAILURES = 10_000;

	private static final int MOST_CHARACTERS = 1 << 20;

	private static final int MOST_CODES = 1000;

	private static final String OTHER = "(other)";

	/** A failure, its place in both collections, and its text's header. */
	private static final int ENTRY_BYTES = 256;

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private final SpoolFile file;

	private final List<JournalEntry> failures = new ArrayList<>();

	private final Map<JournalEntry, Integer> places = new HashMap<>();

	private final Set<JournalConnection> connections = new LinkedHashSet<>();

	private int characters;

	JournalNotes(SpoolFile file) {
		this.file = file;
	}

	/**
	 * Takes note of a connection.
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	void add(JournalConnection connection) throws SpoolException {
		if (this.connections.add(connection)) {
			append(new Note(null, connection, null));
		}
	}

	/**
	 * Takes note of what a caller has asked for.
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	void add(RequestedChanges asked) throws SpoolException {
		append(new Note(null, null, asked));
	}

	/**
	 * The place of a failure in the list, beyond whose bounds messages are left out.
	 * @param memory the memory for failures
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	int place(JournalEntry entry, MemoryShare memory) throws SpoolException {
		Integer known = this.places.get(entry);
		if (known != null) {
			return known;
		}
		int length = failure(entry).message().length();
		if (this.failures.size() < MOST_FAILURES && this.characters + length <= MOST_CHARACTERS
				&& memory.tryTakeForReport(bytes(entry))) {
			this.characters += length;
			return add(entry);
		}
		JournalEntry coded = withoutMessage(entry, failure(entry).code());
		if (this.places.containsKey(coded)
				|| (this.failures.size() < MOST_FAILURES + MOST_CODES && memory.tryTakeForReport(bytes(coded)))) {
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
		Integer known = this.places.get(entry);
		if (known != null) {
			return known;
		}
		append(new Note(entry, null, null));
		this.failures.add(entry);
		this.places.put(entry, this.failures.size() - 1);
		return this.failures.size() - 1;
	}

	private void append(Note note) throws SpoolException {
		this.file.writeAt(this.file.bytes(),
				ByteBuffer.wrap((mapper.writeValueAsString(note) + '\n').getBytes(StandardCharsets.UTF_8)));
	}

	/** Forgets what is in memory. */
	void forget() {
		this.failures.clear();
		this.places.clear();
		this.connections.clear();
		this.characters = 0;
		this.file.rest();
	}

	/**
	 * Has all in memory that another process has written, but for messages for which no
	 * memory is free: it waits for none, as it holds it until the job ends.
	 * @param memory the memory for failures
	 * @throws IOException if the file cannot be read, or is not whole
	 */
	void load(MemoryShare memory) throws IOException {
		forget();
		Map<JournalEntry, JournalEntry> coded = new HashMap<>();
		for (Note note : read()) {
			JournalEntry entry = note.failure();
			if (entry != null && memory.tryTakeForReport(bytes(entry))) {
				this.places.putIfAbsent(entry, this.failures.size());
				this.failures.add(entry);
				this.characters += failure(entry).message().length();
			}
			else if (entry != null) {
				// It has no place: another failure would get the message of its line in
				// the file.
				String code = (coded.size() < MOST_CODES) ? failure(entry).code() : OTHER;
				this.failures.add(coded.computeIfAbsent(withoutMessage(entry, code), (first) -> first));
			}
			else if (note.connection() != null) {
				this.connections.add(note.connection());
			}
		}
	}

	/** The failures in memory, by their places. */
	List<JournalEntry> failures() {
		return List.copyOf(this.failures);
	}

	/**
	 * Reads the failures.
	 * @param memory takes them
	 * @return the failures by their places
	 * @throws IOException if the file cannot be read, or is not whole
	 */
	List<JournalEntry> failures(MemoryShare memory) throws IOException {
		List<JournalEntry> entries = read().stream().map(Note::failure).filter(Objects::nonNull).toList();
		memory.take(entries.stream().mapToLong(JournalNotes::bytes).sum());
		return entries;
	}

	/**
	 * Reads the connections.
	 * @throws IOException if the file cannot be read, or is not whole
	 */
	List<JournalConnection> connections() throws IOException {
		return read().stream().map(Note::connection).filter(Objects::nonNull).toList();
	}

	/**
	 * What callers have asked for, in one.
	 * @throws IOException if the file cannot be read, or is not whole
	 */
	RequestedChanges asked() throws IOException {
		RequestedChanges all = RequestedChanges.NOTHING;
		for (Note note : read()) {
			all = (note.asked() != null) ? all.then(note.asked()) : all;
		}
		return all;
	}

	/**
	 * Cuts off a last line that is not whole, as the process that wrote it was killed.
	 * @throws IOException if the file cannot be read, or is broken elsewhere
	 */
	void cutOff() throws IOException {
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

	/** Reads the lines that are whole, and answers their size in bytes. */
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

	/** A line of the file: one of them. */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record Note(@Nullable JournalEntry failure, @Nullable JournalConnection connection,
			@Nullable RequestedChanges asked) {

	}

}
