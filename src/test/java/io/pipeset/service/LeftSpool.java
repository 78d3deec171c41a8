package io.pipeset.service;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.pipeset.report.RedisIdentity;
import io.pipeset.run.JobId;

import org.springframework.util.FileSystemUtils;

/** A spool as a process has left it that was killed, with jobs at exact places. */
public final class LeftSpool {

	public static final int APPLIED = 1;

	public static final int NOOP = 2;

	public static final int SENT = 3;

	/** The first of the failures in the notes. */
	public static final int FAILURE = 4;

	public static final String WRONGTYPE = "{\"failure\":{\"outcome\":\"rejected\",\"failure\":{\"code\":\"WRONGTYPE\","
			+ "\"message\":\"WRONGTYPE of before\",\"retryable\":false}}}";

	private final Path folder;

	/**
	 * A folder of a process that has ended.
	 * @param base the folder of all, whose other contents are removed
	 * @param redis the Redis of its jobs
	 */
	public LeftSpool(Path base, RedisIdentity redis) {
		String name = UUID.randomUUID().toString();
		this.folder = base.resolve(name);
		try {
			FileSystemUtils.deleteRecursively(base);
			Files.createDirectories(this.folder);
			Files.writeString(base.resolve(name + ".lock"), redis.name());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public Path base() {
		return this.folder.getParent();
	}

	/** A job of NDJSON without settings of its own. */
	public String job(String body, int[] outcomes, String... notes) {
		return job("\"batchSize\":[\"10\"],\"flush\":[\"close\"],\"concurrency\":[\"2\"]", "NDJSON", false, null,
				body.getBytes(StandardCharsets.UTF_8), outcomes, notes);
	}

	/**
	 * A job.
	 * @param settings members of a JSON object, each of them a list of texts
	 * @param outcomes a number for each record that has one
	 * @param notes objects of JSON, each of which is a line; what is no object is the
	 * beginning of one
	 * @return its id
	 */
	public String job(String settings, String format, boolean gzipped, Long declared, byte[] body, int[] outcomes,
			String... notes) {
		String id = JobId.next();
		write(id + ".body", body);
		write(id + ".job",
				("{\"createdMillis\":1795386361749,\"bodyBytes\":" + body.length + ",\"encoding\":\""
						+ ((gzipped) ? "GZIP" : "IDENTITY") + "\",\"format\":\"" + format + "\",\"declared\":"
						+ declared + ",\"settings\":{" + settings + "},\"operation\":null}")
					.getBytes(StandardCharsets.UTF_8));
		ByteBuffer journal = ByteBuffer.allocate(2 * outcomes.length);
		IntStream.of(outcomes).forEach((outcome) -> journal.putShort((short) outcome));
		write(id + ".outcomes", journal.array());
		write(id + ".notes",
				Stream.of(notes)
					.map((note) -> (note.endsWith("}")) ? note + '\n' : note)
					.collect(Collectors.joining())
					.getBytes(StandardCharsets.UTF_8));
		return id;
	}

	public void write(String name, byte[] bytes) {
		try {
			Files.write(this.folder.resolve(name), bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Outcomes of records in a row: numbers, and how many records have each. */
	public static int[] outcomes(int... numbersAndCounts) {
		return IntStream.range(0, numbersAndCounts.length / 2)
			.flatMap((i) -> IntStream.generate(() -> numbersAndCounts[2 * i]).limit(numbersAndCounts[2 * i + 1]))
			.toArray();
	}

}
