package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.pipeset.record.Operation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** How each kind of record is read, and compared with the reply. */
class RecordCheckTests {

	private final RecordCheck check = new RecordCheck();

	private void read(String command, boolean expiries) {
		String[] words = command.split(" ", -1);
		StringBuilder resp = new StringBuilder("*" + words.length + "\r\n");
		for (String word : words) {
			resp.append("$").append(word.length()).append("\r\n").append(word).append("\r\n");
		}
		Operation operation = Objects.requireNonNull(Operation.find(words[0]));
		this.check.read(resp.toString().getBytes(StandardCharsets.ISO_8859_1), 0, operation, operation, expiries);
	}

	private boolean compare(String reply) {
		byte[] bytes = ("junk" + reply.replace("~", "\r\n")).getBytes(StandardCharsets.UTF_8);
		return this.check.compare(bytes, 4);
	}

	private String sent() {
		ByteBuf out = Unpooled.buffer();
		this.check.writeTo(out);
		return String.join(" ",
				List.of(out.toString(StandardCharsets.ISO_8859_1).split("\r\n"))
					.stream()
					.filter((line) -> !line.matches("[*$]\\d+"))
					.toList());
	}

	@ParameterizedTest
	@CsvSource({ "SET k v,GET k", "SET k v EX 5,GET k", "SET k v NX,PING", "SETEX k 5 v,GET k", "MSET a 1 b 2,MGET a b",
			"HSET h f 1 g 2,HMGET h f g", "SADD s a b,SMISMEMBER s a b", "ZADD z 1 a 2 b,ZMSCORE z a b",
			"ZADD z CH 1 a,ZMSCORE z a", "ZADD z GT 1 a,PING", "JSON.SET k $.a 1,JSON.GET k $.a",
			"JSON.SET k $ 1 NX,PING", "DEL a b,EXISTS a b", "UNLINK a,EXISTS a", "HDEL h f,HMGET h f",
			"SREM s a,SMISMEMBER s a", "ZREM z a,ZMSCORE z a", "EXPIRE k 5,PTTL k",
			"PEXPIREAT k 99999999999999,PEXPIRETIME k", "PERSIST k,PTTL k", "EXPIRE k 5 NX,PING", "EXPIRE k -1,PING",
			"INCR k,PING", "RPUSH k a,PING", "SETNX k v,PING" })
	void whatIsRead(String record, String command) {
		read(record, true);
		assertThat(sent()).isEqualTo(command);
	}

	@ParameterizedTest
	@CsvSource({ "SET k v,$1~v~,true", "SET k v,$2~vv~,false", "SET k v,$-1~,false", "SET k v,_~,false",
			"HSET h f 1 g 2,*2~$1~1~$1~2~,true", "HSET h f 1 g 2,*2~$1~1~$-1~,false",
			"HSET h f 9 f 1,*2~$1~1~$1~1~,true", "SADD s a b,*2~:1~:1~,true", "SADD s a b,*2~:1~:0~,false",
			"SREM s a b,*2~:0~:0~,true", "SREM s a b,*2~:0~:1~,false", "ZADD z 1.50 a,*1~$3~1.5~,true",
			"ZADD z 1e2 a,'*1~,100~',true", "ZADD z +inf a,*1~$3~inf~,true", "ZADD z -Infinity a,*1~$4~-inf~,true",
			"ZADD z 1 a,*1~$-1~,false", "ZREM z a,*1~_~,true", "DEL a b,:0~,true", "DEL a b,:1~,false",
			"HDEL h f,*1~$-1~,true", "HDEL h f,*1~$0~~,false", "EXPIRE k 5,:4001~,true", "EXPIRE k 5,:5000~,true",
			"EXPIRE k 5,:5001~,false", "EXPIRE k 5,:-1~,false", "EXPIRE k 5,:-2~,false", "PERSIST k,:-1~,true",
			"PERSIST k,:7~,false", "EXPIREAT k 9999999999,:9999999999123~,true",
			"EXPIREAT k 9999999999,:9999999998999~,false", "MSET a 1 b 2,*0~,false",
			"MSET a 1 a 2,*2~$1~2~$1~2~,true" })
	void whatIsTheSame(String record, String reply, boolean same) {
		read(record, true);
		assertThat(compare(reply)).isEqualTo(same);
	}

	@Test
	void documentsAreComparedAsJson() {
		read("JSON.SET k $ {\"b\":1.0,\"a\":[1,{\"c\":null}]}", false);
		assertThat(compare("$33~[{\"a\":[1,{\"c\":null}],\"b\":1}]     ~")).isTrue();
		assertThat(compare("$31~[{\"a\":[1,{\"c\":true}],\"b\":1}]~")).isFalse();
		assertThat(compare("$2~[]~")).isFalse();
		assertThat(compare("$-1~")).isFalse();
		assertThat(this.check.isMissing()).isTrue();
		read("JSON.SET k .a \"x\"", false);
		assertThat(compare("$3~\"x\"~")).isTrue();
	}

	@Test
	void pathsOfDocumentsAreParts() {
		read("JSON.SET k $ 1", false);
		assertThat(this.check.name(0)).isEqualTo(Differences.WHOLE);
		read("JSON.SET k $.a.b 1", false);
		assertThat(this.check.name(0)).isEqualTo("pa.b");
		read("JSON.SET k .a.b 1", false);
		assertThat(this.check.name(0)).isEqualTo("pa.b");
	}

	@Test
	void whatIsFoundIsCutBetweenCharacters() {
		read("SET k v", false);
		byte[] reply = "$7\r\néééa\r\n".getBytes(StandardCharsets.UTF_8);
		assertThat(this.check.compare(reply, 0)).isFalse();
		assertThat(this.check.found(reply, 3)).isEqualTo("é".getBytes(StandardCharsets.UTF_8));
		assertThat(this.check.found(reply, 256)).hasSize(7);
	}

}
