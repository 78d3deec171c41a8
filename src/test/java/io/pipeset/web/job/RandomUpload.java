package io.pipeset.web.job;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;

import com.github.luben.zstd.Zstd;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A random upload whose every record leaves a trace of its own, so that the data tells
 * which of them have run, and how often.
 */
final class RandomUpload {

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private static final List<String> TYPES = List.of(Service.NDJSON, Service.JSON, "application/x-redis-resp",
			"text/plain", "text/csv");

	private final String name;

	private final List<List<String>> records = new ArrayList<>();

	/** The records that Redis, or the service, refuses whenever they are sent. */
	private final BitSet bad = new BitSet();

	private final String call;

	private final String type;

	private final String encoding;

	private final boolean asynchronous;

	private final boolean repeatable;

	private final @Nullable String key;

	/**
	 * Makes an upload.
	 * @param name the beginning of its keys, which no other has
	 */
	RandomUpload(String name, Random random) {
		this.name = name;
		this.key = (random.nextInt(3) > 0) ? "key-of-" + name : null;
		this.asynchronous = this.key == null || random.nextInt(4) > 0;
		this.repeatable = random.nextBoolean();
		this.type = TYPES.get(random.nextInt(TYPES.size()));
		this.encoding = List.of("identity", "identity", "gzip", "zstd").get(random.nextInt(4));
		this.call = "/v1/jobs?concurrency=" + (1 + random.nextInt(4)) + "&batchSize=" + pick(random, "1", "50", "3000")
				+ "&flush=" + pick(random, "close", "each", "buffered:20") + "&coalesce=" + pick(random, "auto", "off")
				+ "&atomic=" + pick(random, "none", "none", "batch");
		boolean refused = random.nextBoolean();
		int count = 1 + random.nextInt(pick(random, 20, 3000, 12_000));
		for (int i = 0; i < count; i++) {
			this.records.add(record(i, refused && random.nextInt(10) == 0, random));
		}
	}

	private List<String> record(int index, boolean refused, Random random) {
		if (refused) {
			this.bad.set(index);
			return List.of("HSET", this.name + ":string", "f", "v" + index);
		}
		return switch (random.nextInt((this.repeatable) ? 3 : 5)) {
			case 0 -> List.of("SET", this.name + ":k" + index, "v");
			case 1 -> List.of("HSET", this.name + ":h" + index % 7, "f" + index, "v");
			case 2 -> List.of("SADD", this.name + ":s" + index % 3, "m" + index);
			case 3 -> List.of("RPUSH", this.name + ":l" + index % 5, "" + index);
			default -> List.of("INCRBY", this.name + ":c" + index, "1");
		};
	}

	int size() {
		return this.records.size();
	}

	BitSet bad() {
		return this.bad;
	}

	boolean isAsynchronous() {
		return this.asynchronous;
	}

	boolean isKeyed() {
		return this.key != null;
	}

	/** Whether the service may go on with it. */
	boolean isRepeatable() {
		return this.records.stream().noneMatch((record) -> record.get(0).matches("RPUSH|INCRBY"));
	}

	/** Makes what its bad records fail at. */
	void prepare(RedisCommands<String, String> redis) {
		redis.set(this.name + ":string", "a string");
	}

	HttpRequest.Builder request(Service service) {
		return request(service, "");
	}

	/**
	 * Makes a request.
	 * @param settings further settings, each after an ampersand
	 */
	HttpRequest.Builder request(Service service, String settings) {
		HttpRequest.Builder request = service.request(this.call + settings).header("Content-Type", this.type);
		if (this.asynchronous) {
			request.header("Prefer", "respond-async");
		}
		if (this.key != null) {
			request.header("Idempotency-Key", this.key);
		}
		byte[] body = body().getBytes(StandardCharsets.UTF_8);
		request.header("Content-Encoding", this.encoding);
		return request.POST(BodyPublishers.ofByteArray(packed(body)));
	}

	private String body() {
		return switch (this.type) {
			case Service.JSON ->
				this.records.stream().map(RandomUpload::array).collect(Collectors.joining(",", "[", "]"));
			case "application/x-redis-resp" -> this.records.stream()
				.map((words) -> "*" + words.size() + "\r\n"
						+ words.stream()
							.map((word) -> "$" + word.length() + "\r\n" + word + "\r\n")
							.collect(Collectors.joining()))
				.collect(Collectors.joining());
			case "text/plain" -> lines((words) -> String.join(" ", words), "");
			case "text/csv" ->
				lines((words) -> String.join(",", words) + ",".repeat(4 - words.size()), "op,key,arg1,arg2\n");
			default -> lines(RandomUpload::array, "");
		};
	}

	private String lines(Function<List<String>, String> line, String header) {
		return this.records.stream()
			.map((words) -> line.apply(words) + "\n")
			.collect(Collectors.joining("", header, ""));
	}

	private static String array(List<String> words) {
		return words.stream().collect(Collectors.joining("\",\"", "[\"", "\"]"));
	}

	private byte[] packed(byte[] body) {
		return switch (this.encoding) {
			case "gzip" -> gzip(body);
			case "zstd" -> Zstd.compress(body);
			default -> body;
		};
	}

	private static byte[] gzip(byte[] body) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (OutputStream gzip = new GZIPOutputStream(bytes)) {
			gzip.write(body);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return bytes.toByteArray();
	}

	/** The records that have run, none of which has run twice. */
	BitSet ran(RedisCommands<String, String> redis) {
		BitSet ran = new BitSet();
		for (String key : redis.keys(this.name + ":*")) {
			char kind = key.charAt(this.name.length() + 1);
			if (key.endsWith(":string")) {
				continue;
			}
			switch (kind) {
				case 'h' -> redis.hkeys(key).forEach((field) -> ran.set(Integer.parseInt(field.substring(1))));
				case 's' -> redis.smembers(key).forEach((member) -> ran.set(Integer.parseInt(member.substring(1))));
				case 'l' -> {
					List<String> values = redis.lrange(key, 0, -1);
					assertThat(values).as(key).doesNotHaveDuplicates();
					values.forEach((value) -> ran.set(Integer.parseInt(value)));
				}
				default -> {
					if (kind == 'c') {
						assertThat(redis.get(key)).as("how often %s has run", key).isEqualTo("1");
					}
					ran.set(Integer.parseInt(key.substring(this.name.length() + 2)));
				}
			}
		}
		return ran;
	}

	/** Each record without an item has run, and of the others as many as may have. */
	void assertItems(RedisCommands<String, String> redis, JsonNode report, Service service, String location) {
		Answer answer = service.get(location + "/items");
		assertThat(answer.status()).as(this + answer.text()).isEqualTo(200);
		Map<String, BitSet> items = new HashMap<>();
		answer.text()
			.lines()
			.map((line) -> mapper.readTree(line).get("error"))
			.forEach((error) -> items.computeIfAbsent(error.get("status").asString(), (status) -> new BitSet())
				.set(error.get("index").asInt()));
		BitSet unknown = items.getOrDefault("unknown", new BitSet());
		BitSet rejected = items.getOrDefault("rejected", new BitSet());
		BitSet unprocessed = items.getOrDefault("unprocessed", new BitSet());
		BitSet applied = new BitSet();
		applied.set(0, size());
		List.of(unknown, rejected, unprocessed).forEach(applied::andNot);
		Counts counts = Answer.counts(report);
		String job = this + " " + counts + " " + report.get("state");
		assertThat(applied.cardinality()).as(job).isEqualTo((int) counts.applied());
		assertThat(rejected.cardinality()).as(job).isEqualTo((int) counts.rejected());
		assertThat(unknown.cardinality()).as(job).isEqualTo((int) counts.unknown());
		BitSet ran = ran(redis);
		applied.andNot(ran);
		assertThat(applied).as("applied, and not there: " + job).isEqualTo(new BitSet());
		rejected.or(unprocessed);
		rejected.and(ran);
		assertThat(rejected).as("not run, and there: " + job).isEqualTo(new BitSet());
	}

	@SafeVarargs
	private static <T> T pick(Random random, T... values) {
		return values[random.nextInt(values.length)];
	}

	@Override
	public String toString() {
		return this.name + ": " + this.records.size() + " records as " + this.type + ", " + this.encoding
				+ ((this.asynchronous) ? ", respond-async" : "") + ((this.key != null) ? ", with a key" : "")
				+ ((isRepeatable()) ? "" : ", once") + ", " + this.bad.cardinality() + " bad, " + this.call;
	}

}
