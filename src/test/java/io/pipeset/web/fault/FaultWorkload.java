package io.pipeset.web.fault;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.pipeset.service.PacedBody;
import io.pipeset.service.Service;
import org.jspecify.annotations.Nullable;

/**
 * The records of one run of the campaign. Its seed picks them, and each is known by its
 * index, so that the report can be held against Redis record by record. Every value is
 * unique, and so is every element of a list.
 *
 * @param path path and settings of the request
 * @param mediaType the media type of the upload; {@code null} if the records are
 * generated
 * @param records the records by their indexes
 * @param pace makes the pauses of an upload; {@code null} for an upload without pauses
 */
record FaultWorkload(String path, @Nullable String mediaType, List<Sent> records, @Nullable Random pace) {

	/**
	 * The number of values in each queue before the job. RPOP takes the first one first.
	 */
	static final int QUEUED = 400;

	/** A key that holds a string, so that HSET fails. */
	static final String IN_THE_WAY = "w:string";

	/** The forms of a job. A form that is listed more often is drawn more often. */
	private static final List<String> FORMS = List.of("pipeset", "pipehset", "listinput", "piperpop", "reliable",
			"ndjson", "ndjson", "ndjson", "json");

	static FaultWorkload pick(Random random, FaultTrouble trouble) {
		String form = (trouble == FaultTrouble.QUERY_BUFFER) ? "ndjson" : FORMS.get(random.nextInt(FORMS.size()));
		// Tens, hundreds and thousands of records are equally frequent. Now and then
		// there are very few.
		int count = (random.nextInt(10) == 0) ? 1 + random.nextInt(5)
				: (int) (20 * Math.exp(random.nextDouble() * Math.log(400)));
		boolean uploaded = form.endsWith("json");
		List<Sent> records = new ArrayList<>();
		int keys = 1 + random.nextInt(60);
		int padding = (random.nextInt(6) == 0) ? Math.min(3000, 1_000_000 / count) : random.nextInt(30);
		int large = (trouble == FaultTrouble.QUERY_BUFFER) ? random.nextInt(count) : -1;
		long burst = 0;
		for (int i = 0; i < count; i++) {
			// Neighbours that are alike may go as one command.
			burst = (i == 0 || random.nextInt(3) == 0) ? random.nextLong() : burst;
			records.add(switch (form) {
				case "pipeset" -> Sent.set("keyA" + digits(i), "value-" + digits(i));
				case "pipehset" ->
					Sent.hset("hashA" + digits(i), Map.of("id", Integer.toString(i), "value", "value-" + digits(i)));
				case "listinput" -> Sent.lpush("l:0", "value-" + digits(i));
				case "piperpop", "reliable" -> Sent.rpop("q:0", 1);
				default -> any(new Random(burst), i, keys, (i == large) ? 3 << 20 : padding);
			});
		}
		String path = switch (form) {
			case "pipeset", "pipehset" -> "/" + form + "/" + count + "?";
			case "listinput" -> "/listinput/l:0?count=" + count + "&";
			case "piperpop" -> "/piperpop/" + count + "?key=q:0&";
			case "reliable" -> "/piperpop/" + count + "?key=q:0&reliable=true&";
			default -> "/v1/jobs?";
		};
		String settings = settings(random, count, trouble);
		if (form.equals("reliable")) {
			settings = settings.replace("&atomic=batch", "");
		}
		return new FaultWorkload(path + settings,
				(!uploaded) ? null : (form.equals("json")) ? Service.JSON : Service.NDJSON, records,
				(random.nextInt(3) > 0) ? new Random(random.nextLong()) : null);
	}

	private static String settings(Random random, int count, FaultTrouble trouble) {
		int batchSize = List.of(1 + random.nextInt(20), 100, 333, 1000, 100_000).get(random.nextInt(5));
		if (batchSize < 10 && count > 1000) {
			batchSize = 50;
		}
		String flush = List.of("each", "close", "buffered:" + (1 + random.nextInt(200)), "buffered:1000")
			.get(random.nextInt(4));
		int concurrency = List.of(1, 1, 2, 4, 8, 8).get(random.nextInt(6));
		return "results=all&batchSize=" + batchSize + "&flush=" + flush + "&concurrency=" + concurrency + "&timeout="
				+ ((trouble.isSilent()) ? "300ms" : (trouble == FaultTrouble.KILL) ? "1s" : "10s") + "&retries="
				+ List.of(0, 0, 2, 10).get(random.nextInt(4)) + ((random.nextInt(4) == 0) ? "&coalesce=off" : "")
				+ ((batchSize <= 1000 && random.nextInt(3) == 0) ? "&atomic=batch" : "");
	}

	private static Sent any(Random random, int index, int keys, int padding) {
		String unique = "v" + index + "-" + "x".repeat(padding);
		int key = random.nextInt(keys);
		int draw = random.nextInt(100);
		if (draw < 30 || padding > 10_000) {
			return Sent.set("s:" + key, unique);
		}
		if (draw < 50) {
			return Sent.hset("h:" + key, Map.of("a", unique, "b", unique));
		}
		if (draw < 60) {
			return Sent.lpush("l:" + key, unique);
		}
		if (draw < 70) {
			return Sent.rpush("r:" + key, unique);
		}
		if (draw < 92) {
			return Sent.rpop("q:" + key % 5, 1 + random.nextInt(2));
		}
		if (draw < 95) {
			return Sent.del("s:" + key, "s:" + random.nextInt(keys));
		}
		return (draw < 98) ? Sent.hset(IN_THE_WAY, Map.of("a", unique)) : Sent.malformed();
	}

	boolean isReliable() {
		return this.path.contains("reliable=true");
	}

	boolean isAtomic() {
		return this.path.contains("atomic=batch");
	}

	/**
	 * The records of each transaction, or none if these cannot be known: several lanes
	 * share records out, and pops may cut a batch short.
	 */
	List<List<Integer>> transactions() {
		boolean known = isAtomic() && this.path.contains("concurrency=1&")
				&& this.records.stream().filter((record) -> record.takes() > 0).count() < 500;
		int batchSize = Integer.parseInt(this.path.replaceFirst(".*batchSize=([0-9]+).*", "$1"));
		List<List<Integer>> transactions = new ArrayList<>();
		for (int i = 0; known && i < this.records.size(); i++) {
			if (this.records.get(i).op().isEmpty()) {
				continue;
			}
			if (transactions.isEmpty() || transactions.get(transactions.size() - 1).size() == batchSize) {
				transactions.add(new ArrayList<>());
			}
			transactions.get(transactions.size() - 1).add(i);
		}
		return transactions;
	}

	/** The lists that are in Redis before the job. */
	Map<String, List<String>> queues() {
		return this.records.stream()
			.filter((record) -> record.op().equals("RPOP"))
			.map(Sent::key)
			.distinct()
			.collect(Collectors.toMap((key) -> key,
					(key) -> IntStream.range(0, QUEUED).mapToObj((i) -> key + "-" + i).toList(), (a, b) -> a,
					LinkedHashMap::new));
	}

	HttpRequest.Builder request(Service service) {
		HttpRequest.Builder request = service.request(this.path);
		if (this.mediaType == null) {
			return request.POST(BodyPublishers.noBody());
		}
		byte[] body = body().getBytes(StandardCharsets.UTF_8);
		Random random = this.pace;
		return request.header("Content-Type", this.mediaType)
			.POST((random != null) ? BodyPublishers.ofInputStream(() -> new PacedBody(body, random))
					: BodyPublishers.ofByteArray(body));
	}

	String body() {
		boolean json = Service.JSON.equals(this.mediaType);
		return this.records.stream()
			.map(Sent::toJson)
			.collect(Collectors.joining((json) ? "," : "\n", (json) ? "[" : "", (json) ? "]" : "\n"));
	}

	private static String digits(int number) {
		return "%05d".formatted(number);
	}

	/**
	 * A record.
	 *
	 * @param op its operation; empty for a malformed one
	 * @param keys its keys
	 * @param leaves the value that SET or HSET leaves in its key, or the element of LPUSH
	 * or RPUSH
	 * @param takes the number of values that RPOP takes
	 * @param toJson the record in JSON
	 */
	record Sent(String op, List<String> keys, String leaves, int takes, String toJson) {

		static Sent set(String key, String value) {
			return new Sent("SET", List.of(key), value, 0,
					"{\"op\":\"SET\",\"key\":\"%s\",\"value\":\"%s\"}".formatted(key, value));
		}

		static Sent hset(String key, Map<String, String> fields) {
			return new Sent("HSET", List.of(key), new TreeMap<>(fields).toString(), 0,
					"{\"op\":\"HSET\",\"key\":\"%s\",\"fields\":{%s}}".formatted(key,
							fields.entrySet()
								.stream()
								.map((field) -> "\"%s\":\"%s\"".formatted(field.getKey(), field.getValue()))
								.collect(Collectors.joining(","))));
		}

		static Sent lpush(String key, String element) {
			return new Sent("LPUSH", List.of(key), element, 0, "[\"LPUSH\",\"%s\",\"%s\"]".formatted(key, element));
		}

		static Sent rpush(String key, String element) {
			return new Sent("RPUSH", List.of(key), element, 0, "[\"RPUSH\",\"%s\",\"%s\"]".formatted(key, element));
		}

		static Sent rpop(String key, int count) {
			return new Sent("RPOP", List.of(key), "", count, (count == 1) ? "[\"RPOP\",\"%s\"]".formatted(key)
					: "[\"RPOP\",\"%s\",\"%d\"]".formatted(key, count));
		}

		static Sent del(String one, String another) {
			return new Sent("DEL", List.of(one, another), "", 0, "[\"DEL\",\"%s\",\"%s\"]".formatted(one, another));
		}

		static Sent malformed() {
			return new Sent("", List.of(), "", 0, "{\"op\":\"SET\",\"key\":\"s:0\"}");
		}

		String key() {
			return this.keys.get(0);
		}

		boolean isRepeatable() {
			return this.op.equals("SET") || this.op.equals("HSET") || this.op.equals("DEL");
		}

	}

}
