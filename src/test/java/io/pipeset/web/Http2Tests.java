package io.pipeset.web;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** HTTP/2, which has to be switched on, is served and refused as HTTP/1.1 is. */
@ServiceTest(properties = { "server.http2.enabled=true", "pipeset.security.allowed-hosts=pipeset.example" })
class Http2Tests {

	private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

	private static final int DATA = 0;

	private static final int HEADERS = 1;

	private static final int RST_STREAM = 3;

	private static final int SETTINGS = 4;

	private static final int GOAWAY = 7;

	private static final String[] UPLOAD = { ":authority=localhost", "content-type=application/x-ndjson" };

	private static final int END_STREAM = 1;

	private static final int END_HEADERS = 4;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	Http2Tests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { ":authority=localhost", ":authority=LOCALHOST:8080", ":authority=127.0.0.1",
			":authority=[::1]:1", ":authority=pipeset.example", "host=localhost", ":authority=localhost host=localhost",
			":authority=localhost origin=http://localhost:3000" })
	void anAuthorityThatIsOursIsServed(String headers) throws IOException {
		assertThat(post("/pipeset/3", headers.split(" "))).contains("\"applied\":3,");
		assertThat(this.redis.dbsize()).isEqualTo(3);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			:authority=evil.example                      | Host names 'evil.example'
			:authority=evil.example:8080                 | Host names 'evil.example'
			:authority=localhost.evil.example            | Host names 'localhost.evil.example'
			:authority=10.0.0.1                          | Host names '10.0.0.1'
			host=evil.example                            | Host names 'evil.example'
			a=b                                          | no header Host
			:authority=evil.example x-forwarded-host=localhost | Host names 'evil.example'
			:authority=localhost origin=http://evil.example | Origin names 'http://evil.example'
			:authority=localhost origin=null             | Origin names 'null'
			""")
	void anAuthorityThatIsNotOursIsRefused(String headers, String detail) throws IOException {
		assertThat(post("/pipeset/3", headers.split(" "))).contains("foreign-request").contains(detail);
		assertThat(this.redis.dbsize()).isZero();
	}

	/** Tomcat refuses these without a word. */
	@ParameterizedTest
	@ValueSource(strings = { ":authority=localhost host=evil.example", ":authority=evil.example host=localhost",
			":authority=localhost host=localhost host=evil.example", ":authority=evil@localhost",
			":authority=localhost/evil" })
	void whoeverNamesTwoIsRefused(String headers) throws IOException {
		assertThat(post("/pipeset/3", headers.split(" "))).doesNotContain("applied").doesNotContain("500");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void aClientThatAsksForHttp2GetsIt() throws Exception {
		HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
		String record = "[\"SET\",\"a\",\"1\"]\n";
		// The first request asks for HTTP/2, and the others speak it.
		for (int i = 0; i < 2; i++) {
			HttpResponse<String> answer = client.send(upload("/v1/jobs", record), HttpResponse.BodyHandlers.ofString());
			assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
			assertThat(Answer.counts(new Answer(answer.statusCode(), answer.headers(), answer.body()).report()))
				.isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		}
	}

	@Test
	void anEarlyAnswerEndsItsUploadAndNoOther() throws IOException {
		byte[] record = "[\"SET\",\"a\",\"1\"]\n".getBytes(StandardCharsets.UTF_8);
		try (Socket socket = connect(this.service)) {
			OutputStream out = socket.getOutputStream();
			DataInputStream in = new DataInputStream(socket.getInputStream());
			out.write(frame(HEADERS, END_HEADERS, 1, head("/v1/jobs", UPLOAD)));
			out.write(frame(DATA, 0, 1, record));
			await().until(() -> this.redis.exists("a") == 1);
			out.write(frame(HEADERS, END_HEADERS, 3, head("/v1/jobs?batchSize=0", UPLOAD)));
			out.write(frame(DATA, 0, 3, record));
			assertThat(answer(in, 3)).contains("invalid-setting");
			assertThat(answer(in, 3)).isEqualTo("ended by frame " + RST_STREAM);
			out.write(frame(DATA, END_STREAM, 1, record));
			assertThat(answer(in, 1)).contains("\"applied\":2,");
		}
	}

	@Test
	void nothingOfARequestIsLogged() throws Exception {
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared(), "--server.http2.enabled=true")) {
			for (String header : List.of("host=forged", "te=forged")) {
				try (Socket socket = connect(process.service())) {
					byte[] head = head("/pipeset/3", ":authority=localhost", header);
					socket.getOutputStream().write(frame(HEADERS, END_STREAM | END_HEADERS, 1, head));
					assertThat(answer(new DataInputStream(socket.getInputStream()), 1)).as(header)
						.doesNotContain("applied");
				}
			}
			process.terminate();
			process.awaitEnd();
			assertThat(process.output()).noneMatch((line) -> line.toLowerCase(Locale.ROOT).contains("forged"))
				.noneMatch((line) -> line.startsWith("\tat ") || line.contains("Exception"));
		}
	}

	private HttpRequest upload(String path, String body) {
		return HttpRequest.newBuilder(this.service.uri(path))
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(body))
			.build();
	}

	/** The body of the answer to a request, or the frame that ends it without one. */
	private String post(String path, String... headers) throws IOException {
		try (Socket socket = connect(this.service)) {
			socket.getOutputStream().write(frame(HEADERS, END_STREAM | END_HEADERS, 1, head(path, headers)));
			return answer(new DataInputStream(socket.getInputStream()), 1);
		}
	}

	private static Socket connect(Service service) throws IOException {
		Socket socket = new Socket(InetAddress.getLoopbackAddress(), service.port());
		socket.setSoTimeout(30_000);
		socket.getOutputStream().write(PREFACE);
		socket.getOutputStream().write(frame(SETTINGS, 0, 0, new byte[0]));
		return socket;
	}

	private static byte[] head(String path, String... headers) {
		ByteArrayOutputStream block = new ByteArrayOutputStream();
		literal(block, ":method", "POST");
		literal(block, ":scheme", "http");
		literal(block, ":path", path);
		for (String header : headers) {
			String[] parts = header.split("=", 2);
			literal(block, parts[0], parts[1]);
		}
		return block.toByteArray();
	}

	private static String answer(DataInputStream in, int wanted) throws IOException {
		StringBuilder body = new StringBuilder();
		while (true) {
			int lengthAndType = in.readInt();
			int flags = in.readUnsignedByte();
			int stream = in.readInt();
			byte[] payload = in.readNBytes(lengthAndType >>> 8);
			int type = lengthAndType & 0xff;
			if (type == GOAWAY || (stream == wanted && type == RST_STREAM)) {
				return body.append("ended by frame ").append(type).toString();
			}
			if (stream == wanted && type == DATA) {
				body.append(new String(payload, StandardCharsets.UTF_8));
			}
			if (stream == wanted && (flags & END_STREAM) != 0) {
				return body.toString();
			}
		}
	}

	private static byte[] frame(int type, int flags, int stream, byte[] payload) {
		return ByteBuffer.allocate(9 + payload.length)
			.putInt(payload.length << 8 | type)
			.put((byte) flags)
			.putInt(stream)
			.put(payload)
			.array();
	}

	/**
	 * A header as HPACK writes it without Huffman's codes. Those of the request itself
	 * have a number in its table.
	 */
	private static void literal(ByteArrayOutputStream block, String name, String value) {
		int number = List.of("", ":authority", ":method", "", ":path", "", ":scheme").indexOf(name);
		block.write(Math.max(0, number));
		for (String text : (number > 0) ? List.of(value) : List.of(name, value)) {
			block.write(text.length());
			block.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
		}
	}

}
