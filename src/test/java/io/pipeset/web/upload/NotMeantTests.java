package io.pipeset.web.upload;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.lettuce.core.Range;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Files whose senders would not notice that another thing was stored than they meant:
 * either Redis has what they meant, or the answer says what it has not.
 * <p>
 * Each row has the format, the query, the body, the keys that Redis has then, and texts
 * of the answer with two blanks between them, or not of the answer after {@code !};
 * without texts there is neither an error nor a warning. {@code ¶} is a line feed,
 * {@code ␍} a carriage return, {@code ␉} a tab, {@code ⌂} a byte order mark.
 */
@ServiceTest
class NotMeantTests {

	private static final Map<String, String> TYPES = Map.of("csv", "text/csv", "tsv", "text/tab-separated-values",
			"text", "text/plain", "resp", "application/x-redis-resp", "ndjson", Service.NDJSON, "json", Service.JSON);

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	NotMeantTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest(name = "{0} {1} {2}")
	@CsvSource(delimiterString = " | ", quoteCharacter = '~', nullValues = "-",
			textBlock = """
					text | - | SET keep 1¶SET k "one¶DEL keep¶three"                   | keep=1 | (line 2): the next lines may belong to it
					resp | - | SET keep 1¶SET k 'one¶DEL keep¶three'                   | keep=1 | a quoted word is not closed before the end of its line
					text | - | SET a don't¶SET b 2                                     | b=2    | "rejected":1  a quoted word is not closed
					text | - | SADD a x␍SADD b y¶SET c 1                               | c=1    | "rejected":1  lines end with LF or CRLF
					resp | - | SADD a x␍SADD b y¶SET c 1                               | c=1    | "rejected":1  lines end with LF or CRLF
					text | - | SET a 1␍¶SET b 2                                        | a=1, b=2 | -
					text | - | ZADD z 9007199254740992 a¶ZADD z 1 b 9007199254740993 c | z={b=1.0, a=9.007199254740992E15, c=9.007199254740992E15} | "ROUNDED_SCORE"  "count":1,"line":2
					text | - | ZINCRBY z 12345678.8204567123 a¶HINCRBYFLOAT h f 0.5    | h={f=0.5}, z={a=1.2345678820456712E7} | "ROUNDED_SCORE"  "count":1,"line":1
					text | - | ZADD z 12345.82 a 90071992547409930000 b -0.5 c inf d   | z={c=-0.5, a=12345.82, b=9.007199254740994E19, d=Infinity} | "ROUNDED_SCORE"  "count":1
					text | - | SET k v¶SET l w¶RENAMENX k l¶COPY k l¶SETNX k x¶MSETNX k x m y¶EXPIRE k 60 GT¶PEXPIREAT n 4102444800000 | k=v, l=w | "applied":2,"noop":6
					text | - | RPUSH l a¶LPUSHX n a¶RPUSHX n a¶LINSERT n BEFORE a b¶LINSERT l AFTER x b¶HSET h f 1¶HSETNX h f 2¶SMOVE n o a | h={f=1}, l=[a] | "applied":2,"noop":6
					text | - | SADD s a¶SADD s a¶DEL n¶PERSIST n¶SREM s b¶HDEL n f     | s=[a] | "applied":6,"noop":0
					text | - | BITFIELD b OVERFLOW FAIL INCRBY u8 #0 65¶BITFIELD b OVERFLOW FAIL INCRBY u8 #0 200¶BITFIELD b OVERFLOW FAIL INCRBY u8 #1 66 INCRBY u8 #0 200 | b=AB | "applied":2,"noop":1  "reply":[66,null],"detail":"1 of the record's 2 parts did nothing"
					text | - | SET a 1 PXAT 1800000000¶SET b 1¶EXPIREAT b 4102444800000¶SET c 1¶EXPIRE c 0 | b=1@4102444800000 | "EXPIRED_AT_ONCE"  "count":2,"line":1  "FAR_EXPIRY"  "count":1,"line":3
					text | - | SET a "caf\\u00e9"                                      | a=cafu00e9 | "DROPPED_BACKSLASHES"  "count":1,"line":1
					text | - | ZADD a 1 x¶ZADD b 2 y¶ZUNIONSTORE d 2 a b WEIGHTS 2 3¶ZINTERSTORE e 1 a¶ZDIFFSTORE f 2 a b | a={x=1.0}, b={y=2.0}, d={x=2.0, y=6.0}, e={x=1.0}, f={x=1.0} | -
					text | - | RPUSH a 2 1¶SORT a STORE b                              | a=[2, 1] | "UNKNOWN_OPERATION"  depend
					text | - | GEORADIUS a 1 1 5 km STORE b¶GET k                      | -   | depend  only reads
					text | - | -- a remark¶SET k v                                     | k=v | begins with #
					text | - | MULTI¶SET k v¶EXEC                                      | k=v | The body has 1 MULTI command.
					""")
	void commandsRunOrAreTold(String type, @Nullable String query, String body, @Nullable String keys,
			@Nullable String says) {
		check(type, query, body, keys, says);
	}

	@ParameterizedTest(name = "{0} {1} {2}")
	@CsvSource(delimiterString = " | ", quoteCharacter = '~', nullValues = "-",
			textBlock = """
					tsv | op=SET&key=k{id}&value={v}&escape=backslash&null=\\N&nulls=delete | id␉v¶1␉¶2␉\\N¶3␉x | k1=, k3=x | -
					csv | op=HSET&key=k{id}&null=NULL&nulls=skip       | id,v¶1,¶2,NULL¶3,"NULL"       | k1={id=1, v=}, k2={id=2}, k3={id=3, v=NULL} | -
					csv | op=HSET&key=k{id}&null=NULL&null=&nulls=skip | id,v¶1,¶2,NULL¶3,""           | k1={id=1}, k2={id=2}, k3={id=3, v=} | -
					csv | op=HSET&key=k{id}&null=""&nulls=skip         | "id","v"¶"1",""¶"2","x"¶3,    | k1={id=1}, k2={id=2, v=x}, k3={id=3} | -
					csv | op=SET&key=k{id}&value=x&ttl={e}&null=""&nulls=skip | "id","e"¶"1",""¶       | k1=x | -
					csv | op=SET&key=k{id}&value={v}&escape=quotes     | id,v¶1,"C:\\temp\\new"¶2,"say \\"hi\\""¶3,"a \\\\"¶4,C:\\x¶5,"a""b" | k1=C:\\temp\\new, k2=say "hi", k3=a \\, k4=C:\\x | "rejected":1  "line":6
					csv | op=SET&key=k{id}&value={v}                   | id,v¶1,"say \\"hi\\" x"¶2,y   | -                | escape=quotes  escape=backslash  Spark  MySQL
					tsv | op=SET&key=k{id}&value={v}&delimiter=;       | id;v¶1;a "b"¶2;a␉b¶3;"c"      | k1=a "b", k2=a␉b, k3="c" | -
					tsv | op=SET&key=k{id}&value={v}&escape=backslash  | id␉v¶1␉a␍¶2␉b¶                | k1=a␍, k2=b      | "MIXED_LINE_ENDS"  "count":1,"line":2
					csv | op=SET&key=k{id}&value={v}                   | id,v¶1,a␍¶2,b¶                | k1=a, k2=b       | "MIXED_LINE_ENDS"  "count":1,"line":2
					csv | op=SET&key=k{id}&value={v}                   | id,v␍¶1,a␍¶2,b¶               | k1=a, k2=b       | "MIXED_LINE_ENDS"  "count":1,"line":3
					csv | op=SET&key=k{id}&value={v}                   | id,v␍¶1,a␍¶2,b                | k1=a, k2=b       | -
					csv | op=SET&key=k{id}&value={v}                   | id,v¶1,a¶id,v¶2,b             | k1=a, k2=b       | "rejected":1  the row repeats the names of the columns
					csv | op=SET&key=k{id}&value={v}                   | id,v¶1,a¶⌂ID, V ¶2,b          | k1=a, k2=b       | "rejected":1  the row repeats the names of the columns
					csv | op=SET&key=k{id}&value={v}&header=id,v       | id,v¶1,a                      | k1=a             | "rejected":1  the row repeats the names of the columns
					csv | op=SADD&key=s&args={v}                       | v¶a¶v                         | s=[a, v]         | -
					csv | op=SADD&key=s&args={v}&header=v              | v¶a¶v                         | s=[a, v]         | "rejected":1  "line":1
					csv | op=HSET&key=k{@1}                            | ,name¶7,Ada                   | k7={name=Ada}    | -
					csv | op=HSET&key=k{name}                          | ,name¶7,Ada                   | -                | {@1} names it
					csv | op=SET&key=k{name}&value=x                   | ,name¶7,Ada                   | kAda=x           | -
					csv | op=SET&key=k{@1}&value={@2}&header=absent    | 1,a¶2,b                       | k1=a, k2=b       | -
					csv | op=SET&key=k{@1}&value={@2}&header=present   | *,{x¶1,a                      | k1=a             | -
					csv | op=SET&key=k{@1}&value={@2}                  | 1,a¶2,b                       | -                | 'header' is missing
					csv | op=SET&key=k{@1}&value={*}&header=absent     | 1,a¶2,b                       | -                | 'header' is 'absent', and 'value' takes all columns
					csv | op=SADD&key=s&args={v}&comment=#             | # list¶v¶#a "¶b¶"#c"          | s=[#c, b]        | -
					tsv | op=SADD&key=s&args={@1}&header=absent&comment=# | # list¶a¶#b                | s=[a]            | -
					csv | op=SADD&key=s&args={v}&comment=              | v¶a                           | -                | 'comment' must be
					csv | op=SET&key=k{@index}&value={*}               | # list¶a                      | -                | comment=%23
					csv | op=HSET&key=p:{id}                           | id,name¶1,A¶¶name,id¶B,2      | p:1={id=1, name=A} | line 4 has names of columns
					csv | op=HSET&key=p:{id}                           | id,name¶1,A¶¶id,email¶3,c     | p:1={id=1, name=A} | line 4 has names of columns
					csv | op=HSET&key=p:{id}                           | id,name¶1,A¶NAME,id¶B,2       | p:1={id=1, name=A} | line 3 has names of columns
					csv | op=HSET&key=p:{id}&header=name,id            | id,name¶1,A                   | -                | line 1 has names of columns
					csv | op=HSET&key=p:{id}                           | id,name¶id,B¶¶2,C             | p:2={id=2, name=C}, p:id={id=id, name=B} | -
					tsv | op=HSET&key=p:{id}                           | id␉name¶--␉----¶1␉A           | p:1={id=1, name=A} | "rejected":1  line of dashes
					csv | op=SET&key=p:{id}&value={v}&trim=true&comment=# | id,v¶  # x,y¶ 1 , a         | p:1=a            | -
					tsv | op=HSET&key=p:{id}&escape=backslash          | id␉name¶1␉"A"                 | p:1={id=1, name="A"} | -
					tsv | op=HSET&key=p:{id}&delimiter=;               | id;name¶1;"A"                 | p:1={id=1, name="A"} | -
					csv | op=SET&key=k{id}&value={name}                | id, name¶1,a                  | -                | it has 'id', ' name'; trim=true
					csv | op=SET&key=k{id}&value={v}&trim=true         | id,v¶1, "a" ¶2," c "¶3,␉b     | k1=a, k2= c , k3=b | -
					tsv | op=SADD&key=s&args={v}&null=\\N              | v¶a¶¶b                        | s=[, a, b]       | -
					tsv | op=SADD&key=s&args={v}                       | v¶a¶¶b                        | s=[a, b]         | -
					csv;charset=us-ascii | op=SET&key=k{id}&value={v}  | id,v¶1,é¶2,b                  | -                | the bytes are not US-ASCII
					csv | op=HSET&key=k{id}&fields=-v,-w               | id,v,w,x¶1,a,b,c              | k1={id=1, x=c}   | -
					csv | op=HSET&key=k{a}&fields=a,a={b}              | a,b¶1,2                       | -                | has the field 'a' twice
					csv | op=HSET&key=k{id}&fields=at={lon},{lat}      | id,lon,lat¶1,2,3              | -                | place="{lon},{lat}"
					csv | op=HSET                                      | key,arg1¶k,v                  | -                | command=HSET {key} {arg1} {arg2}
					""")
	void cellsAreWhatTheirProducerWrote(String type, @Nullable String query, String body, @Nullable String keys,
			@Nullable String says) {
		check(type, query, body, keys, says);
	}

	@ParameterizedTest(name = "{0} {1} {2}")
	@CsvSource(delimiterString = " | ", quoteCharacter = '~', nullValues = "-",
			textBlock = """
					csv    | op=SET&key=k{id}&value={{"n":"{n}"}}      | id,n¶1,"Ann ""A"" Lee"¶2,C:\\new¶3,"a¶b"¶4,O'Neil é | k4={"n":"O'Neil é"} | "rejected":3  {n:json}
					csv    | op=SET&key=k{id}&value={{"n":{n:json}}}   | id,n¶1,"Ann ""A"" Lee"¶2,C:\\new¶3,"a¶b" | k1={"n":"Ann \\"A\\" Lee"}, k2={"n":"C:\\\\new"}, k3={"n":"a\\nb"} | -
					csv    | op=SET&key={{{id}}}:k&value=[{n}] "{id}"  | id,n¶1,"a""b"                  | {1}:k=[a"b] "1"  | -
					csv    | op=SET&key=k{id}&value={{ n }}            | id,n¶1,a                       | -                | which is the text '{n}' here
					csv    | op=SET&key=k{id}&value=x{{n}}{id}         | id,n¶1,a                       | -                | which is the text '{n}' here
					csv    | op=SADD&key=k{id}&args={t...(,)}          | id,t¶1,"red, blue ,,green"¶2,"['a', 'b']"¶3,"{a,b}"¶4,"(""a"")"¶5,"[""x"",1]"¶6,one | k1=[blue, green, red], k5=[1, x], k6=[one] | "rejected":3  brackets around it are those of another language
					csv    | op=SADD&key=k{id}&args={t...}             | id,t¶1,"a,b"                   | -                | "rejected":1  {t...(,)}
					ndjson | op=SADD&key=k{id}&args={t...}             | {"id":1,"t":"['a', 'b']"}¶{"id":2,"t":"a,b"} | k2=[a,b] | "rejected":1  brackets around it
					ndjson | command=[ DEL u:{before.id} ]&command=[ HSET u:{after.id} name {after.name} [ email {after.email} ] ] | {"before":null,"after":{"id":1,"name":"A","email":null}}¶{"before":null,"after":{"id":2,"name":"B","email":"b"}} | u:1={name=A}, u:2={email=b, name=B} | "leftOut":2
					ndjson | dryRun=true&command=SET k{id} v&command=[ SADD t{id} {t...} ] | {"id":1,"t":[]}¶{"id":2,"t":[1]}¶{"id":3} | - | "leftOut":2  "wouldRun":4
					ndjson | op=SET&key=t:{t}&value=1                  | {"t":["red"]}¶{"t":{"$oid":"5f"}}¶{"t":" [\\"red\\"]"}¶{"t":"[red]"} | t:[red]=1 | "rejected":3  rows=items:t makes a row of each  {t.id}
					json   | op=SET&key=k:{id}&value=1                 | {"id":{"0":1,"1":2},"v":{"0":"a"}} | -            | 'id' is an object
					ndjson | op=HDEL&key=k&args={fields}               | {"fields":["a","b"]}           | -                | "rejected":1  {fields...} takes each element
					ndjson | op=HSET&key=k{id}&fields=t={t:join(;)},x={g.c.0} | {"id":1,"t":["a",2,true],"g":{"c":[1.5,2]}}¶{"id":2,"t":["a;b"],"g":{"c":[1]}}¶{"id":3,"t":[null],"g":{"c":[1]}}¶{"id":4,"t":["a"],"g":{"c":[]}}¶{"id":5,"t":["a"],"g":{"c":"x"}} | k1={t=a;2;true, x=1.5} | "rejected":4  has the separator in it  a null among its elements  'g.c.0' is missing  'g.c' is the text 'x'
					ndjson | op=HSET&key=k{id}&fields=o,{a...}         | {"id":1,"o":1,"a":{"b":2}}¶{"id":2,"o":1,"a":{"o":2}} | k1={b=2, o=1} | "rejected":1  one of two values would be lost
					ndjson | op=HSET&key=k{id}&fields={*...},v={v|10}  | {"id":1,"v":null}¶{"id":2,"v":3} | k1={id=1, v=10}, k2={id=2, v=3} | -
					ndjson | op=HSET&key=k{id}&fields={o...}&encoding=base64 | {"id":"MQ==","o":{"name":"aGk="}} | k1={name=hi} | -
					ndjson | op=SET&key=k{id}&value=1                  | {"id":1,"id":2}                | -                | "rejected":1  'id' is there twice
					ndjson | op=HSET&key=k{id}&fields=id,nmae&nulls=skip | {"id":1,"name":"a"}          | k1={id=1}        | "NEVER_FOUND"  The name {nmae}
					ndjson | op=SET&key=k{l.sku}&value=1               | {"l":[{"sku":"A"}]}            | -                | "rejected":1  rows=items:l  !NEVER_FOUND
					ndjson | op=SET&key=k{id}&value={v.x|0}            | {"id":1,"v":{"y":1}}¶{"id":2,"v":7}¶{"id":3,"v":"{\\"x\\":5}"}¶{"id":4} | k1=0, k3=5, k4=0 | "rejected":1  'v' is 7 and no object or array of JSON
					csv    | op=SET&key=k{id}&value={a.color}          | id,a¶1,"{""color"":""red""}"   | k1=red           | -
					ndjson | op=XADD&key=events                        | {"a":1}¶{"a":2}                | events=[{a=1}, {a=2}] | -
					ndjson | command=XADD events * {*...}              | {"a":1,"b":2}                  | events=[{a=1, b=2}] | -
					json   | op=SADD&key=s&args={@value}               | ["a",7,"b c"]                  | s=[7, a, b c]    | -
					ndjson | op=RPUSH&key=l&args={@index}:{@value}     | "a"¶7¶true                     | l=[0:a, 1:7, 2:true] | -
					ndjson | op=SET&key=k{@value.0}&value={@value.1}   | [1,"x"]                        | k1=x             | -
					ndjson | op=SET&key=k{@index}&value={@value}       | {"@index":5,"@value":"x"}      | k5=x             | -
					json   | rows=entries&op=SET&key={@key}{@index}&value={@value} | {"a":{"@value":"x","@index":7},"b":"y"} | a7=x, b1=y | -
					ndjson | op=UNLINK                                 | "a"                            | -                | key={@value}
					ndjson | rows=items:lines&op=HSET&key=k{order}:{sku}&fields=qty,n={@index} | {"order":"o1","lines":[{"sku":"A","qty":2},{"sku":"B","qty":1}]}¶{"order":"o2","lines":[]}¶{"order":"o3"}¶{"order":"o4","lines":7} | ko1:A={n=0, qty=2}, ko1:B={n=1, qty=1} | "rejected":1  'lines'
					ndjson | rows=items:lins&op=SET&key=k{sku}&value=1 | {"order":"o1","lines":[{"sku":"A"}]} | -          | malformed-body  'lins'
					json   | rows=items:data&op=SET&key=k{id}&value={*} | {"next":1,"data":[{"id":1,"v":"a"},{"id":2}]} | k1={"id":1,"v":"a"}, k2={"id":2} | -
					json   | rows=items:hits.hits&op=SET&key=k{_id}&value={_source.v} | {"hits":{"total":1,"hits":[{"_id":"1","_source":{"v":"a"}}]}} | k1=a | -
					ndjson | rows=items:tags&command=SADD tag:{@value} {sku} | {"sku":"A","tags":["red","lamp"]}¶{"sku":"B","tags":["lamp"]} | tag:lamp=[A, B], tag:red=[A] | -
					ndjson | op=RPUSH&key=k&args={t:join(|)...}        | {"t":[[1,2],["3"],[4,5]]}      | k=[1|2, 3, 4|5]  | -
					ndjson | op=HSET&key=k&fields={t:unix...}          | {"t":{"a":"2030-01-01T00:00:00Z"}} | k={a=1893456000} | -
					ndjson | op=HSET&key=k&fields={t:number...}        | {"t":{"a":"zz"}}               | -                | "rejected":1  is not of the form number
					ndjson | rows=items:i&op=SET&key=k:{o}:{s}&value=1 | {"o":1,"o":2,"i":[{"s":1},{"s":2}]} | -           | "rejected":2  'o' is there twice
					ndjson | op=SET&key=k{@index}&value={v}&args={o}&nulls=delete | {"v":null,"o":"NX"}         | -                | 'delete' goes with no 'args' but an expiry
					ndjson | op=SET&key=k{v}&value={v}&args=EX&args={t}&nulls=delete | {"v":1,"t":"100"} | k1=1@~              | -
					ndjson | op=SET&key=k{v}&value={v}&args=KEEPTTL&ttl={t} | {"v":1,"t":100}              | -                | 'args' has KEEPTTL
					ndjson | op=SET&key=k{@index}&value= {{"a":"{a}"}}         | {"a":"q\\"t"}                   | -                | "rejected":1  between quotes
					ndjson | op=SET&key=k{a}&value={{"a":{a|none}}}       | {"a":1}                        | -                | is none with its default
					ndjson | op=SET&key=k{a}&value={{"a":{a},}}           | {"a":1}                        | -                | begins and ends as JSON, and is none
					ndjson | op=SET&key=k{a}&value={{"a":"{a}}}           | {"a":1}                        | -                | begins and ends as JSON, and is none
					ndjson | op=SET&key={{{a}}}:x&value=[{a}] {b}      | {"a":1,"b":2}                  | {1}:x=[1] 2      | -
					ndjson | command=HSET log:{@index} via {src|web} {*...} | {"a":1}¶{}                | log:0={a=1, via=web} | "rejected":1  the row has no elements
					ndjson | command=[ HSET k:{@index} {*...} ]        | {"a":1}¶{}                     | k:0={a=1}        | "leftOut":1
					csv    | op=HSET&key=k&args={*:json...}            | a¶1                            | -                | the whole row is spread by {*...}
					ndjson | op=SADD&key=k&args={t...(, )}             | {"t":"a, b"}                   | -                | whose separator is not one character
					ndjson | op=SADD&key=k&args={t...(,)}&encoding=base64 | {"t":"YSxi"}                | -                | 'encoding' is 'base64'
					ndjson | op=HSET&key=k{@index}&fields=-pwd         | {"pw":"x"}                     | k0={pw=x}         | "NEVER_FOUND"  which 'fields' leaves out
					csv    | op=SET&key=k{@index}&value={j.typo|0}     | j¶"{""a"":1}"                   | k0=0             | "NEVER_FOUND"  {j.typo|0}
					ndjson | op=SET&key=k{@index}&value={labels.app.kubernetes.io/name|none} | {"labels":{"app.kubernetes.io/name":"x"}} | k0=x | -
					ndjson | command=MSETNX {u...}                     | {"u":["k1","k2"]}              | -                | "rejected":1  names and values of an object
					ndjson | command=MSETNX {u...}                     | {"u":{"k1":"a"}}               | k1=a             | -
					ndjson | command=MSET {o...}                       | {"o":{"[1]":"a"}}              | -                | "rejected":1  which is no key
					""")
	void valuesOfRowsAndObjectsKeepTheirMeaning(String type, @Nullable String query, String body, @Nullable String keys,
			@Nullable String says) {
		check(type, query, body, keys, says);
	}

	@ParameterizedTest(name = "{0} {1} {2}")
	@CsvSource(delimiterString = " | ", quoteCharacter = '~', nullValues = "-",
			textBlock = """
					csv    | op=SET&key=k{id}&value=x&expireAt={at}&zone=Europe/Berlin | id,at¶1,2100-01-01 01:00:00¶2,2026-03-29 02:30:00¶3,4.1024448E9 | k1=x@4102444800, k3=x@4102444800 | "rejected":1  '2026-03-29 02:30:00'
					csv    | op=SET&key=k{id}&value=x&expireAt={at}    | id,at¶1,2100-01-01 01:00:00¶2,2100-01-01 00:00:00 UTC | k2=x@4102444800 | "rejected":1  the setting zone
					csv    | op=SET&key=k{id}&value=x&expireAt={at}    | id,at¶1,2001-01-01T00:00:00Z   | -                | "EXPIRED_AT_ONCE"  "count":1,"line":2
					csv    | op=HSET&key=k{id}&fields=id&expireAt={at} | id,at¶1,2001-01-01T00:00:00Z   | -                | "EXPIRED_AT_ONCE"
					csv    | op=SET&key=k{id}&value=x&ttl={t}          | id,t¶1,-1¶2,-2¶3,999999999.0¶4,0 | k1=x, k3=x@~   | "rejected":2
					ndjson | -                                         | {"op":"SET","key":"k","value":"v","ttl":-1}¶{"op":"HSET","key":"h","fields":{"a":1},"ttl":-1} | h={a=1}, k=v | -
					ndjson | op=SET&ttl=-1                             | {"key":"k","value":"v"}        | -                | 'ttl' must be
					csv    | op=ZADD&key=z&args={at:unix}&args={id}    | id,at¶a,2026-11-28T10:00:00.5Z¶b,1969-12-31T23:59:59Z¶c,1e3 | z={b=-1.0, c=1000.0, a=1.7958600005E9} | -
					csv    | op=XADD&key=x&args={at:unixms}-7&fields=id&zone=UTC | id,at¶a,2026-11-28 10:00:00 | x=[{id=a}]      | -
					csv    | op=ZADD&key=z&args={n:number}&args={id}   | id,n¶a,1e3¶b,high¶c,007        | z={a=1000.0}     | "rejected":2  'high' is no number of JSON
					csv    | op=SET&key=k{id}&value={h:hex}            | id,h¶1,\\x4f6b¶2,0x4f6b¶3,4F6B¶4,4f6 | k1=Ok, k2=Ok, k3=Ok | "rejected":1  'h' is not of the form hex
					ndjson | op=SET&key=k{id}&value={v:base64}         | {"id":1,"v":"aGVs\\r\\nbG8="}¶{"id":2,"v":"aGk"}¶{"id":3,"v":"Pz8-"}¶{"id":4,"v":true}¶{"id":5,"v":"QR=="} | k1=hello, k2=hi, k3=??> | "rejected":2
					ndjson | op=SET&key=k{id}&value={v:f16}            | {"id":1,"v":[70000.1]}¶{"id":2,"v":[1e308]} | -   | "rejected":2  out of range
					ndjson | -                                         | {"op":"SET","key":"k","value":NaN} | -            | "rejected":1  and no NaN
					""")
	void timestampsNumbersAndBytesAreThoseOfTheFile(String type, @Nullable String query, String body,
			@Nullable String keys, @Nullable String says) {
		check(type, query, body, keys, says);
	}

	private void check(String type, @Nullable String query, String body, @Nullable String keys, @Nullable String says) {
		String[] types = type.split(";", 2);
		String path = (query != null) ? Arrays.stream(query.split("&"))
			.map((parameter) -> parameter.split("=", 2))
			.map((parameter) -> parameter[0] + "=" + URLEncoder.encode(parameter[1], StandardCharsets.UTF_8))
			.collect(Collectors.joining("&", "/v1/jobs?", "")) : "/v1/jobs";
		Answer answer = this.service.post(path, TYPES.get(types[0]) + ((types.length > 1) ? ";" + types[1] : ""),
				body.replace('¶', '\n').replace('␍', '\r').replace('␉', '\t').replace('⌂', '\ufeff'));
		assertThat(content()).as(answer.text()).isEqualTo((keys != null) ? keys : "");
		if (says == null) {
			assertThat(answer.text()).contains("\"errors\":false").doesNotContain("\"warnings\"");
		}
		else {
			String text = answer.text().replace("\\\"", "\"").replace("\\\\", "\\");
			for (String said : says.split(" {2}", -1)) {
				assertThat(text.contains(said.replaceFirst("^!", ""))).as("%s in %s", said, text)
					.isNotEqualTo(said.startsWith("!"));
			}
		}
		assertThat(answer.status()).as(answer.text()).isIn(200, 400);
	}

	/** All keys with their values, and their expiries if they are in the next century. */
	private String content() {
		Map<String, String> content = new TreeMap<>();
		for (String key : this.redis.keys("*")) {
			Object value = switch (this.redis.type(key)) {
				case "hash" -> new TreeMap<>(this.redis.hgetall(key));
				case "list" -> this.redis.lrange(key, 0, -1);
				case "set" -> new TreeSet<>(this.redis.smembers(key));
				case "zset" -> this.redis.zrangeWithScores(key, 0, -1)
					.stream()
					.collect(Collectors.toMap(ScoredValue::getValue, ScoredValue::getScore, (a, b) -> a,
							LinkedHashMap::new));
				case "stream" ->
					this.redis.xrange(key, Range.unbounded()).stream().map(StreamMessage::getBody).toList();
				default -> this.redis.get(key).replace('\n', '¶').replace('\r', '␍').replace('\t', '␉');
			};
			long expiry = this.redis.expiretime(key);
			content.put(key, value + ((expiry < 0) ? "" : (expiry < 4_102_444_800L) ? "@~" : "@" + expiry));
		}
		return content.entrySet().stream().map(Map.Entry::toString).collect(Collectors.joining(", "));
	}

}
