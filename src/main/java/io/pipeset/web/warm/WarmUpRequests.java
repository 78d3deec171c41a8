package io.pipeset.web.warm;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;

import io.pipeset.web.WarmUpEndpoints;

/**
 * The requests of one warm-up, as bytes. All keys begin with {@code pipeset:warm-up:} and
 * an id, so that instances that start at the same time use different keys. Each request
 * sets an expiry for its keys in the same job, so that they expire even if the service is
 * killed.
 */
final class WarmUpRequests {

	private static final String EXPIRY_SECONDS = "10";

	private static final String NDJSON = "application/x-ndjson";

	/** Replaces the configured defaults, so that no job waits long for a slow Redis. */
	private static final String SETTINGS = "?timeout=1s&retries=0&rateLimit=1000000000&atomic=none&flush=buffered:1000"
			+ "&dryRun=";

	/** The number of strings that a job of usual size sets. */
	private static final int STRINGS = 40;

	/** The number of elements and of fields that a job of usual size adds. */
	private static final int ELEMENTS = 20;

	/** The number of strings, elements and fields of a small job. */
	private static final int SMALL = 4;

	private final String prefix;

	private final String headers;

	private final String keyPrefix;

	/**
	 * Creates the requests for a service.
	 * @param contextPath the prefix of all its paths, or an empty string
	 * @param password the password of the warm-up endpoints
	 * @param id distinguishes the keys of this warm-up from those of other instances
	 */
	WarmUpRequests(String contextPath, String password, String id) {
		this.prefix = contextPath + WarmUpEndpoints.PREFIX;
		this.headers = " HTTP/1.1\r\nHost: localhost\r\n" + WarmUpEndpoints.HEADER + ": " + password + "\r\n";
		this.keyPrefix = "pipeset:warm-up:" + id + ":";
	}

	/**
	 * A job that tests whether Redis allows SET, EXPIRE and DEL of these keys. Its own
	 * key expires even if EXPIRE and DEL are refused.
	 */
	byte[] trial() {
		String trial = this.keyPrefix + "trial";
		return post(
				"/v1/jobs" + SETTINGS + false, NDJSON, lines(
						List.of(List.of("SET", trial, "value", "EX", EXPIRY_SECONDS),
								List.of("EXPIRE", trial, EXPIRY_SECONDS), List.of("DEL", trial)),
						WarmUpRequests::array));
	}

	/** A job of usual size that writes to Redis. */
	private byte[] usualJob() {
		return post("/v1/jobs" + SETTINGS + false, NDJSON, lines(commands(STRINGS, ELEMENTS), WarmUpRequests::object));
	}

	/** All jobs. The usual one occurs most often. */
	List<byte[]> all() {
		List<List<String>> small = commands(SMALL, SMALL);
		String jobs = "/v1/jobs" + SETTINGS + false;
		String csv = "key,value,ttl\n" + small.stream()
			.filter((command) -> command.get(0).equals("SET"))
			.map((command) -> command.get(1) + "," + command.get(2) + "," + EXPIRY_SECONDS + "\n")
			.collect(Collectors.joining());
		byte[] usual = usualJob();
		byte[] pops = post("/piperpop/" + ELEMENTS + SETTINGS + "false&key=" + this.keyPrefix + "list", "",
				new byte[0]);
		List<byte[]> all = new ArrayList<>(dryRuns());
		all.addAll(List.of(usual, pops, usual, post(jobs, NDJSON, lines(small, WarmUpRequests::array)), usual,
				post(jobs, "text/plain", lines(small, (command) -> String.join(" ", command))), usual,
				post(jobs, "application/x-redis-resp", bytes(join(small, WarmUpRequests::resp, ""))), usual,
				post("/pipeset/" + SMALL + SETTINGS + false, "text/csv", bytes(csv)), usual,
				post(jobs, "application/json", bytes("[" + join(small, WarmUpRequests::array, ",") + "]")), usual,
				post(jobs, NDJSON + "\r\nContent-Encoding: gzip", gzip(lines(small, WarmUpRequests::object)))));
		return all;
	}

	/** Jobs that do not need Redis. */
	List<byte[]> dryRuns() {
		return List.of(post("/pipeset/100" + SETTINGS + true, "", new byte[0]),
				post("/pipehset/100" + SETTINGS + true, "", new byte[0]));
	}

	/** The job that deletes all keys. */
	byte[] cleanup() {
		// One record for each key, because the keys are in different slots of a cluster.
		List<List<String>> deletes = keys(STRINGS).stream().map((key) -> List.of("DEL", key)).toList();
		return post("/v1/jobs" + SETTINGS + false, NDJSON, lines(deletes, WarmUpRequests::array));
	}

	private List<List<String>> commands(int strings, int elements) {
		List<List<String>> commands = new ArrayList<>();
		keys(strings).subList(0, strings).forEach((key) -> commands.add(List.of("SET", key, "value-of-" + key)));
		for (int i = 0; i < elements; i++) {
			commands.add(List.of("LPUSH", this.keyPrefix + "list", "value-" + i));
		}
		for (int i = 0; i < elements; i++) {
			commands.add(List.of("HSET", this.keyPrefix + "hash", "field-" + i, "value-" + i));
		}
		keys(strings).forEach((key) -> commands.add(List.of("EXPIRE", key, EXPIRY_SECONDS)));
		return commands;
	}

	private List<String> keys(int strings) {
		List<String> keys = new ArrayList<>();
		for (int i = 0; i < strings; i++) {
			keys.add(this.keyPrefix + i);
		}
		keys.add(this.keyPrefix + "list");
		keys.add(this.keyPrefix + "hash");
		return keys;
	}

	private byte[] post(String call, String type, byte[] body) {
		String header = "POST " + this.prefix + call + this.headers
				+ ((type.isEmpty()) ? "" : "Content-Type: " + type + "\r\n") + "Content-Length: " + body.length
				+ "\r\n\r\n";
		ByteArrayOutputStream request = new ByteArrayOutputStream();
		request.writeBytes(bytes(header));
		request.writeBytes(body);
		return request.toByteArray();
	}

	private static byte[] lines(List<List<String>> commands, Function<List<String>, String> format) {
		return bytes(join(commands, format, "\n"));
	}

	private static String join(List<List<String>> commands, Function<List<String>, String> format, String separator) {
		return commands.stream().map(format).collect(Collectors.joining(separator));
	}

	private static String object(List<String> command) {
		String start = "{\"op\":\"" + command.get(0) + "\",\"key\":\"" + command.get(1) + "\",";
		return switch (command.get(0)) {
			case "SET" -> start + "\"value\":\"" + command.get(2) + "\"}";
			case "HSET" -> start + "\"fields\":{\"" + command.get(2) + "\":\"" + command.get(3) + "\"}}";
			default -> start + "\"args\":[\"" + command.get(2) + "\"]}";
		};
	}

	private static String array(List<String> command) {
		return command.stream().collect(Collectors.joining("\",\"", "[\"", "\"]"));
	}

	private static String resp(List<String> command) {
		return command.stream()
			.map((word) -> "$" + word.length() + "\r\n" + word + "\r\n")
			.collect(Collectors.joining("", "*" + command.size() + "\r\n", ""));
	}

	private static byte[] gzip(byte[] bytes) {
		ByteArrayOutputStream gzipped = new ByteArrayOutputStream();
		try (GZIPOutputStream gzip = new GZIPOutputStream(gzipped)) {
			gzip.write(bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return gzipped.toByteArray();
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

}
