package io.pipeset.web.setting;

import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.record.Operation;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.redis.TestRedis;
import io.pipeset.request.Setting;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A setting that has no effect is refused by its name, and by that of what it does not
 * fit: the call, the operation, the format, or a setting that it needs. Each setting is
 * tried in each situation, mostly as a dry run.
 */
@ServiceTest
class IdleSettingTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	IdleSettingTests(Service service) {
		this.service = service;
	}

	@ParameterizedTest
	@EnumSource
	void aSettingHasItsEffectOrIsRefused(Row row) {
		SoftAssertions.assertSoftly((softly) -> Stream.of(Situation.values())
			.filter((situation) -> !situation.call.matches(".*[?&]" + row.name + "=.*"))
			.forEach((situation) -> check(row, situation, softly)));
	}

	private void check(Row row, Situation situation, SoftAssertions softly) {
		String cell = row + " at " + situation;
		this.redis.set("k", "v");
		Answer answer = post(situation, row.name, row.value);
		JsonNode json = answer.json();
		if (!situation.name().matches(row.where)) {
			String detail = json.path("detail").asString();
			softly.assertThat(answer.status()).as(cell).isEqualTo(400);
			softly.assertThat(json.has("job")).as(cell).isFalse();
			softly.assertThat(detail).as(cell).containsPattern("\\b" + row.name + "\\b");
			softly.assertThat(detail)
				.as(cell)
				.containsPattern(
						Stream.concat(row.needed.stream(), situation.words.stream()).collect(Collectors.joining("|")));
		}
		else if (row.seen == Seen.IN_SETTINGS) {
			JsonNode seen = json.at("/settings/" + row.name);
			softly.assertThat(((seen.isArray()) ? seen.path(0) : seen).asString()).as(cell).isEqualTo(row.value);
		}
		else {
			softly.assertThat(json.path("type").asString()).as(cell).doesNotEndWith("-setting");
			softly.assertThat(items(json)).as(cell).isNotEqualTo(items(post(situation, "dryRun", "true").json()));
		}
	}

	@ParameterizedTest
	@MethodSource("io.pipeset.record.Operation#values")
	void anOperationWithoutAnExpiryTakesNoSettingOfOne(Operation operation) {
		Assumptions.assumeFalse(operation == Operation.SET || operation == Operation.HSET);
		for (String setting : List.of("ttl=1h", "expireAt=4102444800", "ttlJitter=10", "ttl=%7Bt%7D")) {
			for (String type : List.of(Service.NDJSON, "text/csv", "text/plain", "application/x-redis-resp")) {
				assertThat(this.service.post("/v1/jobs?op=" + operation + "&" + setting, type, "x")
					.refusal(400, "invalid-setting")).startsWith("'" + setting.replaceFirst("=.*", "") + "'")
					.contains("is for SET and HSET, not for " + operation);
			}
		}
	}

	@Test
	void eachSettingAndEachFormatIsTried() {
		Set<String> settings = new TreeSet<>();
		for (String call : List.of("/v1/jobs", "/pipeset", "/pipehset", "/piperpop", "/listinput", Setting.SWEEP)) {
			settings.addAll(Setting.names(call));
		}
		assertThat(Stream.of(Row.values()).map((row) -> row.name)).containsAll(settings);
		assertThat(Stream.of(Situation.values()).map((situation) -> situation.type))
			.containsAll(Stream.of(RecordFormat.values()).map(RecordFormat::mediaType).toList());
	}

	private Answer post(Situation situation, String name, String value) {
		Map<String, String> added = new LinkedHashMap<>(Map.of("dryRun", "true", "results", "all"));
		added.put(name, value);
		StringBuilder path = new StringBuilder(situation.call.replace("{", "%7B").replace("}", "%7D"));
		added.forEach((setting, text) -> path.append("&" + setting + "=" + URLEncoder.encode(text, UTF_8)));
		return (situation.type.isEmpty()) ? this.service.post(path.toString())
				: this.service.post(path.toString(), situation.type, situation.body);
	}

	/**
	 * The records as they would be sent, or the end of a job that could not read them.
	 */
	private static JsonNode items(JsonNode answer) {
		JsonNode report = (answer.has("job")) ? answer.get("job") : answer;
		return report.path("items");
	}

	/** Where a setting shows that it has an effect. */
	private enum Seen {

		/** It changes how the job runs. */
		IN_SETTINGS,

		/** It changes the records. */
		IN_ITEMS

	}

	/** A setting, and the situations in which it has an effect. */
	private enum Row {

		BATCH_SIZE("batchSize", "7", Seen.IN_SETTINGS, ".*"),

		FLUSH("flush", "each", Seen.IN_SETTINGS, ".*"),

		CONCURRENCY("concurrency", "2", Seen.IN_SETTINGS, ".*"),

		TIMEOUT("timeout", "7s", Seen.IN_SETTINGS, ".*"),

		MAX_ERRORS("maxErrors", "7", Seen.IN_SETTINGS, ".*"),

		RETRIES("retries", "1", Seen.IN_SETTINGS, ".*"),

		REPLICAS("replicas", "1", Seen.IN_SETTINGS, ".*"),

		REPLICAS_TIMEOUT("replicasTimeout", "7s", Seen.IN_SETTINGS, "NONE", "replicas from 1"),

		RESULTS("results", "none", Seen.IN_SETTINGS, ".*"),

		OP("op", "SET", Seen.IN_ITEMS, ".*_MIXED"),

		TTL("ttl", "90", Seen.IN_ITEMS, "(?!EXPIRING).*_(SET|HSET|MIXED)", "'ttl' are two"),

		TTL_OF_ROWS("ttl", "{c}", Seen.IN_ITEMS, "TEMPLATES_.*_(SET|HSET)", "'key'", "'ttl' are two", "upload"),

		EXPIRE_AT("expireAt", "4102444800", Seen.IN_ITEMS, "(?!EXPIRING).*_(SET|HSET|MIXED)", "'ttl' are two"),

		EXPIRE_AT_OF_ROWS("expireAt", "{c}", Seen.IN_ITEMS, "TEMPLATES_.*_(SET|HSET)", "'key'", "'ttl' are two",
				"upload"),

		TTL_JITTER("ttlJitter", "10%", Seen.IN_SETTINGS,
				"(ND)?JSON_(SET|HSET|MIXED)|(CSV|TSV|PIPESET)_SET|EXPIRING_.*|SWEEP_EXPIRE", "'ttl'"),

		ENCODING("encoding", "base64", Seen.IN_ITEMS, ".*"),

		RATE_LIMIT("rateLimit", "1000000", Seen.IN_SETTINGS, ".*"),

		MAX_LATENCY("maxLatency", "7ms", Seen.IN_SETTINGS, ".*"),

		ATOMIC("atomic", "batch", Seen.IN_SETTINGS, ".*"),

		EXACTLY_ONCE("exactlyOnce", "true", Seen.IN_SETTINGS, "(?!SWEEP|PIPERPOP|LISTINPUT|PIPESET|GENERATED).*",
				"upload|setting"),

		VERIFY("verify", "true", Seen.IN_SETTINGS, "NONE", "dryRun"),

		COALESCE("coalesce", "off", Seen.IN_SETTINGS, ".*"),

		DRY_RUN("dryRun", "false", Seen.IN_ITEMS, ".*"),

		ESTIMATE("estimate", "true", Seen.IN_SETTINGS, "(?!SWEEP|PIPERPOP|LISTINPUT).*"),

		REPLACE("replace", "none:*", Seen.IN_SETTINGS, "(?!SWEEP|PIPERPOP|LISTINPUT).*", "UNLINK|pop|delete"),

		LABEL("label", "feed 7", Seen.IN_SETTINGS, ".*"),

		CALLBACK("callback", "https://localhost/hook", Seen.IN_SETTINGS, "NONE", "Prefer: respond-async"),

		NULLS("nulls", "empty", Seen.IN_ITEMS, "((ND)?JSON|CSV|TSV|TEMPLATES|EXPIRING_CSV|PIPESET)_.*"),

		KEY("key", "x{key}", Seen.IN_ITEMS, "(JSON|NDJSON|CSV|EXPIRING_CSV)_HSET|PIPERPOP",
				"'key'.*(SET|op|args)|(SET|op|args).*'key'"),

		VALUE("value", "{b}", Seen.IN_ITEMS, "NONE", "'key'"),

		FIELDS("fields", "b", Seen.IN_ITEMS, "TEMPLATES_.*_HSET", "'key'"),

		ARGS("args", "{b}", Seen.IN_ITEMS, "TEMPLATES_CSV_SET", "'key'", "EXPIRE's option", "HSET takes"),

		ARGS_OF_A_SWEEP("args", "NX", Seen.IN_ITEMS, "SWEEP_EXPIRE|TEMPLATES_CSV_SET", "'key'", "HSET takes"),

		ID("id", "{c}", Seen.IN_ITEMS, "TEMPLATES_.*", "'key'"),

		DELIMITER("delimiter", "|", Seen.IN_ITEMS, "(EXPIRING_)?(CSV|TSV)_.*|TEMPLATES_CSV_.*"),

		HEADER("header", "key,arg1,x", Seen.IN_ITEMS, "(EXPIRING_)?(CSV|TSV)_.*|TEMPLATES_CSV_.*"),

		COMMAND("command", "SET {a} {b}", Seen.IN_ITEMS, "NDJSON_MIXED|CSV_MIXED", "command|'op'"),

		ESCAPE("escape", "backslash", Seen.IN_SETTINGS, "(EXPIRING_)?(CSV|TSV)_.*|TEMPLATES_CSV_.*"),

		NULL("null", "NULL", Seen.IN_SETTINGS, "(EXPIRING_)?(CSV|TSV)_.*|TEMPLATES_CSV_.*"),

		TRIM("trim", "true", Seen.IN_SETTINGS, "(EXPIRING_)?(CSV|TSV)_.*|TEMPLATES_CSV_.*"),

		COMMENT("comment", "#", Seen.IN_SETTINGS, "(EXPIRING_)?(CSV|TSV)_.*|TEMPLATES_CSV_.*"),

		ZONE("zone", "UTC", Seen.IN_SETTINGS, "(EXPIRING_|TEMPLATES_)?((ND)?JSON|CSV|TSV)_.*|PIPESET_.*"),

		ROWS("rows", "entries", Seen.IN_SETTINGS, "NONE", "'rows'|entries"),

		UNTIL("until", "empty", Seen.IN_SETTINGS, "PIPERPOP"),

		RELIABLE("reliable", "true", Seen.IN_SETTINGS, "PIPERPOP"),

		RECEIPT_TTL("receiptTtl", "7s", Seen.IN_SETTINGS, "NONE", "reliable"),

		FROM("from", "scan", Seen.IN_SETTINGS, "NONE", "'match' is missing"),

		MATCH("match", "*", Seen.IN_SETTINGS, "NONE", "from=scan"),

		TYPE("type", "list", Seen.IN_ITEMS, "SWEEP_.*", "from=scan"),

		LIMIT("limit", "7", Seen.IN_SETTINGS, "SWEEP_.*", "from=scan");

		private final String name;

		private final String value;

		private final Seen seen;

		/** The situations, as a pattern of their names. */
		private final String where;

		/** Patterns of what a refusal may say elsewhere, if no word of the situation. */
		private final List<String> needed;

		Row(String name, String value, Seen seen, String where, String... needed) {
			this.name = name;
			this.value = value;
			this.seen = seen;
			this.where = where;
			this.needed = List.of(needed);
		}

	}

	/** A call with records. */
	private enum Situation {

		NDJSON_SET("/v1/jobs?op=SET", Service.NDJSON, "{'key':'k','value':'v'}\n{'key':'k','value':null}\n", "SET"),

		NDJSON_HSET("/v1/jobs?op=HSET", Service.NDJSON,
				"{'key':'k','fields':{'f':1}}\n{'key':'k','fields':{'f':null}}\n", "HSET"),

		NDJSON_SADD("/v1/jobs?op=SADD", Service.NDJSON,
				"{'key':'k','args':['a']}\n{'key':'k','args':['a'],'id':null}\n", "SADD"),

		NDJSON_MIXED("/v1/jobs?", Service.NDJSON,
				"['SET','k','v']\n['SADD','k','a']\n{'op':'SADD','key':'k','args':['a'],'id':null}\n", "'op'"),

		JSON_HSET("/v1/jobs?op=HSET", Service.JSON, "[{'key':'k','fields':{'f':1}},{'key':'k','fields':{'f':null}}]",
				"HSET"),

		CSV_SET("/v1/jobs?op=SET", "text/csv", "key,value\nk,v\nk,\n", "SET"),

		CSV_HSET("/v1/jobs?op=HSET", "text/csv", "key,f\nk,v\nk,\n", "HSET"),

		CSV_SADD("/v1/jobs?op=SADD", "text/csv", "key,arg1\nk,v\nk,\n", "SADD"),

		CSV_MIXED("/v1/jobs?", "text/csv", "op,key,arg1\nSET,k,v\nSADD,k,v\nSADD,k,\n", "'op'"),

		TSV_SET("/v1/jobs?op=SET", "text/tab-separated-values", "key\tvalue\nk\tv\nk\t\n", "SET"),

		TEXT_SET("/v1/jobs?op=SET", "text/plain", "SET k v\n"),

		TEXT_SADD("/v1/jobs?op=SADD", "text/plain", "SADD k v\n", "SADD"),

		RESP_SET("/v1/jobs?op=SET", "application/x-redis-resp", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n", "SET"),

		EXPIRING_CSV_HSET("/v1/jobs?op=HSET&ttl=1h", "text/csv", "key,f\nk,v\nk,\n", "HSET"),

		EXPIRING_TEXT_SET("/v1/jobs?op=SET&expireAt=4102444800", "text/plain", "SET k v\n"),

		TEMPLATES_CSV_SET("/v1/jobs?op=SET&key={a}&value={b}", "text/csv", "a,b,c\nk,,90\nk,v,90\n", "SET"),

		TEMPLATES_CSV_HSET("/v1/jobs?op=HSET&key={a}", "text/csv", "a,b,c\nk,,90\nk,v,90\n", "HSET"),

		TEMPLATES_NDJSON_SADD("/v1/jobs?op=SADD&key={a}&args={b}&id={i}", Service.NDJSON,
				"{'a':'k','b':'v','c':90,'i':1}\n{'a':'k','b':'v','c':90,'i':null}\n", "SADD"),

		GENERATED_SET("/pipeset/1?", "", ""),

		GENERATED_HSET("/pipehset/1?", "", ""),

		PIPESET_SET("/pipeset/2?", Service.NDJSON, "{'key':'k','value':'v'}\n{'key':'k','value':null}\n", "SET"),

		PIPERPOP("/piperpop/1?", "", ""),

		LISTINPUT("/listinput/list?", "", ""),

		SWEEP_UNLINK("/v1/jobs?from=scan&match=*&op=UNLINK", "", "", "UNLINK", "from=scan"),

		SWEEP_EXPIRE("/v1/jobs?from=scan&match=*&op=EXPIRE&ttl=1h", "", "", "EXPIRE", "from=scan");

		private final String call;

		/** The media type; empty for a call without a body. */
		private final String type;

		private final String body;

		/** The words of which a refusal has one at least. */
		private final List<String> words;

		Situation(String call, String type, String body, String... words) {
			this.call = call;
			this.type = type;
			this.body = body.replace('\'', '"');
			this.words = new ArrayList<>(List.of(words));
			this.words.add(call.replaceFirst("(/v1/jobs|/\\w+).*", "$1"));
			this.words.add((type.isEmpty()) ? "upload" : Pattern.quote(type));
		}

	}

}
