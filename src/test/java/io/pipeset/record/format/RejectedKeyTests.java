package io.pipeset.record.format;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Limits;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.memory.MemoryReservation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A report shows the key of a refused record, and never another argument as the key. */
class RejectedKeyTests {

	private static final String SHA = "ZTBlMWY5ZmFiZmM5ZDQ4MDBjODc3YTcwM2I4MjNhYzA1NzhmZjhkYg==";

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			application/x-ndjson | {"op":"SET","key":"?","value":"dg=="}
			application/x-ndjson | {"value":"dg==","op":"SET","key":"?","ttl":5}
			application/x-ndjson | {"op":"HSET","key":"?","fields":{"Zg==":"dg=="}}
			application/x-ndjson | {"op":"RPOP","key":"?","count":5}
			application/x-ndjson | ["SET","?","dg=="]
			application/x-ndjson | ["SET","?",5,"RVg=",5]
			application/x-ndjson | ["DEL","?","dg=="]
			application/x-ndjson | ["EVALSHA","@",1,"?","dg=="]
			application/x-ndjson | ["EVALSHA","?",1,"aw==","dg=="]
			application/x-ndjson | ["EVALSHA","?",1,1,"dg==","dg=="]
			application/json     | [{"op":"SET","key":"?","value":"dg=="}]
			application/json     | [["SET","?","dg=="]]
			text/csv             | op,key,arg1,arg2\\nSET,?,dg==,
			text/csv             | arg1,key,op\\ndg==,?,LPUSH
			text/csv             | op,key,arg1,arg2,arg3\\nEVALSHA,@,MQ==,?,dg==
			""")
	void forAKeyThatIsNotBase64NoKeyIsShown(String type, String body) throws IOException {
		Record record = last(type, body.replace("@", SHA), Encoding.BASE64, null);
		assertRefused(record, "'?' is not Base64");
		assertThat(record.key()).isNull();
	}

	@ParameterizedTest
	@CsvSource({ "SET, 'key,value\\n?,dg=='", "SET, 'value,key\\ndg==,?'", "HSET, 'key,Zg==\\n?,dg=='",
			"HSET, 'Zg==,key\\ndg==,?'", "LPUSH, 'key,arg1\\n?,dg=='" })
	void onlyTheKeyColumnIsShownAsKey(Operation operation, String body) throws IOException {
		Record record = last("text/csv", body, Encoding.BASE64, operation);
		assertRefused(record, "'?' is not Base64");
		assertThat(record.key()).isNull();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			application/x-ndjson | {"op":"SET","key":"aw==","value":"?"}
			application/x-ndjson | {"value":"?","op":"SET","key":"aw==","ttl":5}
			application/x-ndjson | {"op":"HSET","key":"aw==","fields":{"?":"dg=="}}
			application/x-ndjson | ["DEL","aw==","?","dg=="]
			application/x-ndjson | ["EVALSHA","@",1,"aw==","?"]
			text/csv             | arg1,key,op\\n?,aw==,LPUSH
			""")
	void aKeyBeforeInvalidBase64IsShown(String type, String body) throws IOException {
		Record record = last(type, body.replace("@", SHA), Encoding.BASE64, null);
		assertRefused(record, "'?' is not Base64");
		assertThat(record.key()).isEqualTo("aw==");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			application/x-ndjson     | ["AUTH","secret"]                 | UNKNOWN_OPERATION
			application/x-ndjson     | ["EVAL","return 1",0]             | UNKNOWN_OPERATION
			application/x-ndjson     | [5,"secret"]                      | MALFORMED
			application/x-ndjson     | ["AUTH","secret",]                | MALFORMED
			application/json         | [["AUTH","secret"]]               | UNKNOWN_OPERATION
			text/plain               | AUTH secret                       | UNKNOWN_OPERATION
			text/plain               | AUTH secret a"                    | MALFORMED
			text/plain               | DEL "secret"x y                   | MALFORMED
			application/x-redis-resp | *2\\r\\n$4\\r\\nAUTH\\r\\n$6\\r\\nsecret\\r\\n | UNKNOWN_OPERATION
			application/x-redis-resp | AUTH secret\\r\\n                 | UNKNOWN_OPERATION
			text/plain               | EVALSHA secret                    | MALFORMED
			text/plain               | EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db x secret | MALFORMED
			""")
	void anArgumentThatMayNotBeAKeyIsNotShown(String type, String body, String code) throws IOException {
		Record record = last(type, body, Encoding.UTF8, null);
		assertThat(Objects.requireNonNull(record.rejection()).code()).isEqualTo(code);
		assertThat(record.key()).isNull();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			application/x-ndjson     | {"op":"FLUSHALL","key":"k"}
			application/x-ndjson     | {"key":"k","value":"v"}
			application/x-ndjson     | {"key":"k","value":"v",}
			application/x-ndjson     | ["SET","k"]
			text/plain               | SET k a"v
			text/csv                 | op,key\\nFLUSHALL,k
			application/x-redis-resp | *2\\r\\n$3\\r\\nSET\\r\\n$1\\r\\nk\\r\\n
			""")
	void theKeyMemberIsShown(String type, String body) throws IOException {
		Record record = last(type, body, Encoding.UTF8, null);
		assertThat(record.rejection()).isNotNull();
		assertThat(record.key()).isEqualTo("k");
	}

	@ParameterizedTest
	@CsvSource({ "application/x-ndjson, '[\"SET\",\"old\",\"NX\",\"NX\"]\\n'", "text/plain, 'SET old NX NX\\n'",
			"application/x-redis-resp, 'SET old NX NX\\n'" })
	void aTooLargeRecordDoesNotShowThePreviousKey(String type, String first) throws IOException {
		Record record = last(type, first + '"' + "x".repeat(5000) + "\"\n", Encoding.UTF8, null);
		assertThat(Objects.requireNonNull(record.rejection()).code()).isEqualTo(Rejection.TOO_LARGE);
		assertThat(record.key()).isNull();
		assertThat(record.hasOperation()).isFalse();
		assertThat(record.argumentCount()).isZero();
		assertThat(record.effect()).isEqualTo(new Record().effect());
		assertThat(record.index()).isOne();
	}

	private static void assertRefused(Record record, String message) {
		Rejection rejection = Objects.requireNonNull(record.rejection());
		assertThat(rejection.code()).isEqualTo(Rejection.MALFORMED);
		assertThat(rejection.message()).startsWith(message);
	}

	private static Record last(String type, String body, Encoding encoding, Operation defaultOperation)
			throws IOException {
		byte[] bytes = body.replace("\\n", "\n").replace("\\r", "\r").getBytes(StandardCharsets.UTF_8);
		RecordReader reader = Objects.requireNonNull(RecordFormat.of(type))
			.open(new ByteArrayInputStream(bytes), defaultOperation, Limits.ofBytes(4096));
		Record record = new Record(new RecordDefaults(null, null, null, 0, encoding), MemoryReservation.UNLIMITED);
		long count = 0;
		while (reader.read(record)) {
			count++;
		}
		assertThat(count).isPositive();
		return record;
	}

}
