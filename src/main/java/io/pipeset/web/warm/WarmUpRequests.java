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
 * an id, so that instances which start at once do not meet. Each request that writes a
 * key lets it expire in the same job, so that nothing is left even by a service that is
 * killed.
 */
final class WarmUpRequests {

	private static final String EXPIRY_SECONDS = "10";

	private static final String NDJSON = "application/x-ndjson";

	/** Jobs do not wait here for a slow Redis, whatever the defaults of jobs. */
	private static final String SETTINGS = "?timeout=1s&retries=0&rateLimit=1000000000&atomic=none&flush=buffered:1000"
			+ "&dryRun=";

	/** The strings that a job of usual size sets. */
	private static final int STRINGS = 40;

	/** The elements and fields that it adds to its list and its hash. */
	private static final int ELEMENTS = 20;

	/** The same for jobs in the formats that are less usual. */
	private static final int FEW = 4;

	private final String path;

	private final String headers;

	private final String key;

	/**
	 * Requests for a service.
	 * @param contextPath the beginning of all its paths, or an empty text
	 * @param password opens the service's own calls
	 * @param id tells the keys of this warm-up from those of others
	 */
	WarmUpRequests(String contextPath, String password, String id) {
		this.path = contextPath + WarmUpEndpoints.PREFIX;
		this.headers = " HTTP/1.1\r\nHost: localhost\r\n" + WarmUpEndpoints.HEADER + ": " + password + "\r\n";
		this.key = "pipeset:warm-up:" + id + ":";
	}

	/**
	 * A job that tries whether keys can be written, and expire and go again. Its own key
	 * expires whatever else is refused.
	 */
	byte[] trial() {
		String trial = this.key + "trial";
		return post(
				"/v1/jobs" + SETTINGS + false, NDJSON, lines(
						List.of(List.of("SET", trial, "value", "EX", EXPIRY_SECONDS),
								List.of("EXPIRE", trial, EXPIRY_SECONDS), List.of("DEL", trial)),
						WarmUpRequests::array));
	}

	/** A job of usual size that Redis has to run. */
	private byte[] usual() {
		return post("/v1/jobs" + SETTINGS + false, NDJSON, lines(commands(STRINGS, ELEMENTS), WarmUpRequests::object));
	}

	/** All jobs, those that are usual more often. */
	List<byte[]> all() {
		List<List<String>> few = commands(FEW, FEW);
		String jobs = "/v1/jobs" + SETTINGS + false;
		String csv = "key,value,ttl\n" + few.stream()
			.filter((command) -> command.get(0).equals("SET"))
			.map((command) -> command.get(1) + "," + command.get(2) + "," + EXPIRY_SECONDS + "\n")
			.collect(Collectors.joining());
		byte[] usual = usual();
		byte[] pops = post("/piperpop/" + ELEMENTS + SETTINGS + "false&key=" + this.key + "list", "", new byte[0]);
		List<byte[]> all = new ArrayList<>(dry());
		all.addAll(List.of(usual, pops, usual, post(jobs, NDJSON, lines(few, WarmUpRequests::array)), usual,
				post(jobs, "text/plain", lines(few, (command) -> String.join(" ", command))), usual,
				post(jobs, "application/x-redis-resp", bytes(join(few, WarmUpRequests::resp, ""))), usual,
				post("/pipeset/" + FEW + SETTINGS + false, "text/csv", bytes(csv)), usual,
				post(jobs, "application/json", bytes("[" + join(few, WarmUpRequests::array, ",") + "]")), usual,
				post(jobs, NDJSON + "\r\nContent-Encoding: gzip", gzip(lines(few, WarmUpRequests::object)))));
		return all;
	}

	/** Jobs for which Redis is not needed. */
	List<byte[]> dry() {
		return List.of(post("/pipeset/100" + SETTINGS + true, "", new byte[0]),
				post("/pipehset/100" + SETTINGS + true, "", new byte[0]));
	}

	/** The job that deletes all keys. */
	byte[] clean() {
		// A record for each, as they are in different slots of a cluster.
		List<List<String>> deletes = keys(STRINGS).stream().map((key) -> List.of("DEL", key)).toList();
		return post("/v1/jobs" + SETTINGS + false, NDJSON, lines(deletes, WarmUpRequests::array));
	}

	private List<List<String>> commands(int strings, int elements) {
		List<List<String>> commands = new ArrayList<>();
		keys(strings).subList(0, strings).forEach((key) -> commands.add(List.of("SET", key, "value-of-" + key)));
		for (int i = 0; i < elements; i++) {
			commands.add(List.of("LPUSH", this.key + "list", "value-" + i));
		}
		for (int i = 0; i < elements; i++) {
			commands.add(List.of("HSET", this.key + "hash", "field-" + i, "value-" + i));
		}
		keys(strings).forEach((key) -> commands.add(List.of("EXPIRE", key, EXPIRY_SECONDS)));
		return commands;
	}

	private List<String> keys(int strings) {
		List<String> keys = new ArrayList<>();
		for (int i = 0; i < strings; i++) {
			keys.add(this.key + i);
		}
		keys.add(this.key + "list");
		keys.add(this.key + "hash");
		return keys;
	}

	private byte[] post(String call, String type, byte[] body) {
		String header = "POST " + this.path + call + this.headers
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

	private static String join(List<List<String>> commands, Function<List<String>, String> format, String between) {
		return commands.stream().map(format).collect(Collectors.joining(between));
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
