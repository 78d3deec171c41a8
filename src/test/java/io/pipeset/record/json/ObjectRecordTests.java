package io.pipeset.record.json;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.pipeset.record.Operation;
import io.pipeset.record.Rejection;
import io.pipeset.record.format.Snapshot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class ObjectRecordTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					{"op":"SET","key":"k","value":"v"}                        | SET k v
					{"value":"v","key":"k","op":"SET"}                        | SET k v
					{"op":"set","key":"k","value":"v"}                        | SET k v
					{"op":"SET","key":"k","value":"v","ttl":3600}             | SET k v EX 3600
					{"ttl":1,"value":"v","op":"Set","key":"k"}                | SET k v EX 1
					{"op":"SET","key":"k","value":"v","ttl":"60"}             | SET k v EX 60
					{"op":"SET","key":"k","value":"v","ttl":3600.0}           | SET k v EX 3600
					{"op":"SET","key":"k","value":"v","ttl":-1}               | SET k v
					{"op":"HSET","key":"k","fields":{"a":{ "x" : [1, null] },"b":[ ],"c":{}}} | HSET k a {"x":[1,null]} b [] c {}
					{"op":"SET","key":"k","value":"v","ttl":"PT1M"}           | SET k v EX 60
					{"op":"SET","key":"k","value":"v","expireAt":4102444800}  | SET k v EXAT 4102444800
					{"expireAt":"2100-01-01T00:00:00.5Z","op":"SET","key":"k","value":"v"} | SET k v PXAT 4102444800500
					{"op":"SET","key":"aw==","value":"dg==","ttl":"60","encoding":"base64"} | SET k v EX 60
					{"value":"dg==","op":"SET","key":"aw==","encoding":"base64"} | SET k v
					{"encoding":"base64","value":12,"op":"SET","key":"aw==","ttl":5} | SET k 12 EX 5
					{"encoding":"base64","value":{"a":"dg=="},"op":"SET","key":""} | SET  {"a":"dg=="}
					{"op":"HSET","key":"aw==","fields":{"Zg==":"dg==","Zw==":true},"encoding":"base64"} | HSET k f v g true
					{"op":"SET","key":"aw==","args":["dg==","RVg=",60],"encoding":"base64"} | SET k v EX 60
					{"op":"SADD","key":"k","args":["dg=="],"encoding":"utf8"} | SADD k dg==
					{"op":"SET","key":"k","args":["v","NX","PX",5]}           | SET k v NX PX 5
					{"op":"SET","key":7,"value":-1.50e+3}                     | SET 7 -1.50e+3
					{"op":"SET","key":true,"value":false}                     | SET true false
					{"op":"SET","key":"k","value":{ "a" : [ 1 , null ] }}     | SET k {"a":[1,null]}
					{"op":"SET","key":"k","value":[ ]}                        | SET k []
					{"op":"HSET","key":"h","fields":{"a":"1","b":2,"c":true}} | HSET h a 1 b 2 c true
					{"fields":{"a":1,"b":2,"a":3},"key":"h","op":"HSET"}      | HSET h a 1 b 2 a 3
					{"op":"HSET","key":"h","args":["a","1","a","2"]}          | HSET h a 1 a 2
					{"op":"RPOP","key":"q"}                                   | RPOP q
					{"op":"RPOP","key":"q","count":0}                         | RPOP q 0
					{"op":"RPOP","count":10,"key":"q"}                        | RPOP q 10
					{"op":"RPOP","key":"q","args":["3"]}                      | RPOP q 3
					{"op":"LPUSH","key":"q","value":"a"}                      | LPUSH q a
					{"op":"LPUSH","key":"q","args":["a","b",1,false]}         | LPUSH q a b 1 false
					{"op":"DEL","key":"a"}                                    | DEL a
					{"op":"DEL","key":"a","args":["b","c"]}                   | DEL a b c
					{"op":"DEL","key":"a","args":[]}                          | DEL a
					{"op":"DEL","key":"a","error":{"code":"X","n":[null]}}    | DEL a
					{"error":null,"op":"DEL","key":"a"}                       | DEL a
					 \t { "op" : "DEL" , "key" : "a" } \t                     | DEL a
					""")
	void membersBecomeArgumentsInTheOrderOfTheCommand(String line, String command) {
		Snapshot snapshot = Snapshot.line(line);
		assertThat(snapshot.message()).isNull();
		assertThat(String.join(" ", snapshot.words())).isEqualTo(command);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					{"op":"SET","key":"k"}                                | record member 'value' is missing: SET takes 'key', 'value' and 'ttl' or 'expireAt', or 'key' and 'args'
					{"op":"SET","value":"v"}                              | record member 'key' is missing
					{"op":"HSET","key":"k"}                               | record member 'fields' is missing: HSET takes 'key', 'fields' and 'ttl' or 'expireAt', or 'key' and 'args'
					{"op":"LPUSH","key":"k"}                              | record member 'value' is missing
					{"op":"DEL"}                                          | record member 'key' is missing
					{"op":"SET","key":"k","value":"v","args":["w"]}       | record member 'args' goes with 'key' alone, not with 'value'
					{"op":"RPOP","key":"k","args":[],"count":1}           | record member 'args' goes with 'key' alone, not with 'count'
					{"op":"SET","key":"k","value":"v","count":1}          | record member 'count' does not go with SET
					{"op":"SET","key":"k","value":"v","fields":{"a":1}}   | record member 'fields' does not go with SET
					{"op":"RPOP","key":"k","value":"v"}                   | record member 'value' does not go with RPOP
					{"op":"DEL","key":"k","expireAt":1}                   | record member 'expireAt' does not go with DEL: DEL takes 'key' and 'args'
					{"op":"SET","key":"k","args":["v"],"expireAt":1}      | record member 'args' goes with 'key' alone, not with 'expireAt'
					{"op":"SET","key":"k","value":1,"expireAt":1,"ttl":1} | record members 'ttl' and 'expireAt' are two expiries: SET takes one of them
					{"op":"DEL","key":"k","ttl":1}                        | record member 'ttl' does not go with DEL: DEL takes 'key' and 'args'
					{"op":"HSET","key":"k","args":["a",1],"ttl":1}        | record member 'args' goes with 'key' alone, not with 'ttl'
					{"op":"DEL","key":"k","encoding":"BASE64"}            | record member 'encoding' takes 'utf8' or 'base64', not the string 'BASE64'
					{"op":"DEL","key":"k","encoding":64}                  | record member 'encoding' takes 'utf8' or 'base64', not the number 64
					{"op":"DEL","key":"not base64","encoding":"base64"}   | 'not base64' is not Base64 with padding
					{"op":"DEL","key":"YQ","encoding":"base64"}           | 'YQ' is not Base64 with padding
					{"op":"DEL","key":"Y=Q=","encoding":"base64"}         | 'Y=Q=' is not Base64 with padding
					{"op":"DEL","key":"YQ==","args":["_-8="],"encoding":"base64"} | '_-8=' is not Base64 with padding
					{"op":"EVALSHA","key":"k","args":["x",0]}             | record member 'key' does not go with EVALSHA: EVALSHA takes 'args' alone
					{"op":"DEL","key":"k","kee":1}                        | record member 'kee' is not known; allowed are op, key, value, fields, ttl, expireAt, count, args, id, error, found, raw, settings, encoding
					{"op":"DEL","key":"k","":1}                           | record member '' is not known
					{"op":"DEL","key":"k","Key":"k"}                      | record member 'Key' is not known
					{"op":"DEL","key":"a","key":"b"}                      | record member 'key' is repeated
					{"op":"DEL","key":"a","error":1,"error":2}            | record member 'error' is repeated
					{"op":"DEL","key":"a","k\\u0065y":"b"}                | record member 'key' is repeated
					{"op":"HSET","key":"k","fields":{"a":1},"fields":{}}  | record member 'fields' is repeated
					{"op":"HSET","key":"k","fields":{}}                   | record member 'fields' takes a field or more, not an empty object
					{"op":"HSET","key":"k","fields":[1]}                  | record member 'fields' takes an object, not an array
					{"op":"HSET","key":"k","fields":{"a":1,"b":null}}     | record member 'fields' takes no null, and its 'b' is null; nulls=skip leaves it out, nulls=empty takes it for an empty string
					{"op":"SET","key":"k","value":null}                   | record member 'value' takes anything but null, not null
					{"op":"SET","key":null,"value":1}                     | record member 'key' takes a string, a number or a boolean, not null
					{"op":"SET","key":{},"value":1}                       | record member 'key' takes a string, a number or a boolean, not an object
					{"op":"DEL","key":"k","args":"b"}                     | record member 'args' takes an array of strings, numbers and booleans, not the string 'b'
					{"op":"DEL","key":"k","args":[["b"]]}                 | record member 'args' takes strings, numbers and booleans, not an array
					{"op":"DEL","key":"k","args":["b",null]}              | record member 'args' takes strings, numbers and booleans, not null
					{"op":7,"key":"k"}                                    | record member 'op' takes a string, not the number 7
					{"op":null,"key":"k"}                                 | record member 'op' takes a string, not null
					{"op":"SET","key":"k","value":1,"ttl":0}              | record member 'ttl' takes a whole number of seconds from 1 to 999999999, or a duration of whole seconds such as 90s, 1h, 7d or PT1H (for a timestamp, use expireAt), not the number 0
					{"op":"SET","key":"k","value":1,"ttl":-2}             | record member 'ttl' takes a whole number of seconds from 1 to 999999999, or a duration of whole seconds such as 90s, 1h, 7d or PT1H (for a timestamp, use expireAt), not the number -2
					{"op":"SET","key":"k","value":1,"ttl":1.5}            | record member 'ttl' takes a whole number of seconds from 1 to 999999999, or a duration of whole seconds such as 90s, 1h, 7d or PT1H (for a timestamp, use expireAt), not the number 1.5
					{"op":"SET","key":"k","value":1,"ttl":"60 s"}         | record member 'ttl' takes a whole number of seconds from 1 to 999999999, or a duration of whole seconds such as 90s, 1h, 7d or PT1H (for a timestamp, use expireAt), not the string '60 s'
					{"op":"SET","key":"k","value":1,"ttl":""}             | record member 'ttl' takes a whole number of seconds from 1 to 999999999, or a duration of whole seconds such as 90s, 1h, 7d or PT1H (for a timestamp, use expireAt), not the string ''
					{"op":"SET","key":"k","value":1,"ttl":1234567890123456789} | record member 'ttl' takes a whole number of seconds from 1 to 999999999, or a duration of whole seconds such as 90s, 1h, 7d or PT1H (for a timestamp, use expireAt), not the number 1234567890123456789
					{"op":"RPOP","key":"k","count":-1}                    | record member 'count' takes a whole number, 0 or more, not the number -1
					{"op":"RPOP","key":"k","count":true}                  | record member 'count' takes a whole number, 0 or more, not true
					{"op":"DEL","key":"k","id":true}                      | record member 'id' takes a string or a number, of at most 256 bytes, not true
					{"op":"SET","key":"k","args":["v","IFEQ"]}            | SET's option 'IFEQ' is not supported
					{"op":"HSET","key":"k","args":["a"]}                  | HSET takes
					{"key":"k","value":"v"}                               | no 'op', and the request names none
					{}                                                    | no 'op', and the request names none
					"text"                                                | a record is an object or an array, not the string 'text'
					12                                                    | a record is an object or an array, not the number 12
					null                                                  | a record is an object or an array, not null
					""")
	void invalidMembersAreMalformedAndNamed(String line, String message) {
		Snapshot snapshot = Snapshot.line(line);
		assertThat(snapshot.code()).isEqualTo(Rejection.MALFORMED);
		assertThat(snapshot.message()).startsWith(message);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			{"op":"XYZZY","key":"k"}    | XYZZY    | k
			{"op":"SETX","key":"k"}     | SETX     | k
			{"op":"","key":"k"}         |          | k
			["XYZZY","k"]               | XYZZY    |
			""")
	void unknownOperationsAreNamed(String line, String name, String key) {
		Snapshot snapshot = Snapshot.line(line);
		assertThat(snapshot.code()).isEqualTo(Rejection.UNKNOWN_OPERATION);
		assertThat(snapshot.message())
			.isEqualTo("operation '" + ((name != null) ? name : "") + "' is not supported; " + ("SETX".equals(name)
					? "the nearest supported one is SET" : "docs/formats.md lists the supported operations"));
		assertThat(snapshot.operation()).isNull();
		assertThat(snapshot.arguments()).isEqualTo((key != null) ? List.of(key) : List.of());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ",\"error\":{\"code\":\"MALFORMED\"}", ",\"id\":\"7\"" })
	void theMessageAboutAnItemWithOnlyRawSaysWhatToDo(String others) throws IOException {
		for (Operation operation : new Operation[] { null, Operation.SET }) {
			assertThat(Snapshot.line("{\"raw\":\"1,x\"" + others + "}", operation).message())
				.startsWith("this is the item of a row or line that could not become a record");
		}
	}

	@Test
	void rawIsIgnoredInACompleteRecord() throws IOException {
		assertThat(Snapshot.line("{\"raw\":{\"base64\":\"/w==\"},\"key\":\"k\",\"value\":1}", Operation.SET).words())
			.containsExactly("SET", "k", "1");
	}

	@Test
	void recordsWithoutAnOperationUseTheDefault() throws IOException {
		assertThat(Snapshot.line("{\"key\":\"k\",\"value\":1}", Operation.SET).words()).containsExactly("SET", "k",
				"1");
		assertThat(Snapshot.line("{\"key\":\"k\",\"op\":\"DEL\"}", Operation.SET).words()).containsExactly("DEL", "k");
		assertThat(Snapshot.line("{\"key\":\"k\",\"op\":\"NOPE\"}", Operation.SET).operation()).isNull();
		assertThat(Snapshot.line("{\"key\":\"k\",", Operation.SET).operation()).isNull();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', nullValues = "-", textBlock = """
			{"key":"k","id":"row-1","op":"RPOP","value":1}  | row-1 | RPOP | k
			{"bad":[{"x":null}],"op":"DEL","id":17,"key":"k"} | 17  | DEL  | k
			{"op":"DEL","id":"i","key":"k","args":[null],"id":"j"} | i | DEL | k
			{"op":"DEL","id":"i","key":"k" "args"           | i     | DEL  | k
			{"op":"DEL","id":"i",                           | i     | DEL  | -
			{"op":"SET","key":null,"id":1.5}                | 1.5   | SET  | -
			{"id":"i","key":"k"}                            | i     | -    | k
			["DEL","k",null]                                | -     | DEL  | k
			["DEL",null,"k"]                                | -     | DEL  | -
			[null,"k"]                                      | -     | -    | -
			""")
	void refusedRecordKeepsItsKnownParts(String line, String id, String operation, String key) {
		Snapshot snapshot = Snapshot.line(line);
		assertThat(snapshot.code()).isEqualTo(Rejection.MALFORMED);
		assertThat(snapshot.id()).isEqualTo(id);
		assertThat(snapshot.operation()).isEqualTo(operation);
		assertThat(snapshot.arguments()).isEqualTo((key != null) ? List.of(key) : List.of());
	}

	@Test
	void idIsEchoedUpTo256Bytes() {
		String longest = "é".repeat(128);
		assertThat(Snapshot.line("{\"op\":\"DEL\",\"key\":\"k\",\"id\":\"" + longest + "\"}").id()).isEqualTo(longest);
		Snapshot tooLong = Snapshot.line("{\"op\":\"DEL\",\"key\":\"k\",\"id\":\"" + longest + "x\"}");
		assertThat(tooLong.code()).isEqualTo(Rejection.MALFORMED);
		assertThat(tooLong.message()).startsWith("record member 'id' takes").endsWith("… (257 bytes)'");
		assertThat(tooLong.id()).isNull();
	}

	@Test
	void emptyKeysAndValuesAreAllowed() {
		Snapshot snapshot = Snapshot.line("{\"op\":\"SET\",\"key\":\"\",\"value\":\"\"}");
		assertThat(snapshot.words()).containsExactly("SET", "", "");
		assertThat(snapshot.code()).isNull();
	}

	@Test
	void aRecordDoesNotInheritThePreviousFields() {
		String fields = IntStream.range(0, 40).mapToObj((i) -> "\"f" + i + "\":" + i).collect(Collectors.joining(","));
		String line = "{\"op\":\"HSET\",\"key\":\"h\",\"fields\":{" + fields + "}}\n";
		List<Snapshot> snapshots = Snapshot
			.ndjson(line + "{\"op\":\"HSET\",\"key\":\"h\",\"fields\":{\"x\":1}}\n" + line);
		assertThat(snapshots.get(1).arguments()).containsExactly("h", "x", "1");
		assertThat(snapshots.get(2).arguments()).isEqualTo(snapshots.get(0).arguments());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			["SET","k","v"]                   | SET k v
			["set","k","v","ex",60]           | SET k v ex 60
			[ "HSET" , "k" , "f" , 1.0 ]      | HSET k f 1.0
			["LPUSH","k",true,false]          | LPUSH k true false
			["RPOP","k"]                      | RPOP k
			["DEL",1,2]                       | DEL 1 2
			""")
	void commandArrayIsTheCommand(String line, String command) {
		Snapshot snapshot = Snapshot.line(line);
		assertThat(snapshot.message()).isNull();
		assertThat(String.join(" ", snapshot.words())).isEqualTo(command);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					[]                  | a record that is an array begins with its operation's name, and this one is empty
					[1,"k"]             | a record that is an array begins with its operation's name, a string, not with the number 1
					[["SET"],"k"]       | a record that is an array begins with its operation's name, a string, not with an array
					["DEL","k",null]    | argument 2 of a record that is an array is null; allowed are strings, numbers and booleans
					["SET","k",{"a":1}] | argument 2 of a record that is an array is an object
					["SET",["k"],"v"]   | argument 1 of a record that is an array is an array
					["SET","k"]         | SET takes
					["DEL"]             | DEL takes
					""")
	void commandArrayOfSomethingElseIsMalformed(String command, String message) throws IOException {
		Snapshot snapshot = Snapshot.json("[" + command + "]").get(0);
		assertThat(snapshot.code()).isEqualTo(Rejection.MALFORMED);
		assertThat(snapshot.message()).startsWith(message);
	}

}
