package io.pipeset.benchmark.data;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.Program;
import org.jspecify.annotations.Nullable;

/** Posts with curl, as users do, or with the JDK's own client if there is no curl. */
public final class Caller {

	private static final int HEAD_BYTES = 2048;

	private static final Pattern APPLIED = Pattern.compile("\"applied\":\\s*(\\d+)");

	private static final Pattern JOB_ID = Pattern.compile("\"jobId\":\\s*\"([^\"]+)\"");

	private static final Pattern STATUSES = Pattern.compile("(?:20[02] ?)+");

	/** So long until an asynchronous job is looked at again. */
	private static final long LOOK_MILLIS = 10;

	private final Optional<Program> curl = Program.find("curl");

	private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final Path answers;

	/**
	 * Makes a caller.
	 * @param answers the directory for answers
	 */
	public Caller(Path answers) {
		this.answers = answers;
	}

	/**
	 * Names the client.
	 * @return curl, or the JDK's
	 */
	public String name() {
		return (this.curl.isPresent()) ? "curl" : "java.net.http";
	}

	/**
	 * Posts without a body, once to each address, on one connection.
	 * @param uris the addresses
	 * @return the records that the answers say are applied
	 */
	public long post(List<URI> uris) {
		return post(uris, null, Map.of());
	}

	/**
	 * Posts a file.
	 * @param uri the address
	 * @param body the file
	 * @param form how it is written
	 * @return the records that the answer says are applied
	 */
	public long post(URI uri, Path body, Form form) {
		return post(List.of(uri), body, form.headers());
	}

	/**
	 * Posts a file with one more header.
	 * @param uri the address
	 * @param body the file
	 * @param form how it is written
	 * @param name the header
	 * @return the records that the answer says are applied
	 */
	public long post(URI uri, Path body, Form form, String name, String value) {
		Map<String, String> headers = new LinkedHashMap<>(form.headers());
		headers.put(name, value);
		return post(List.of(uri), body, headers);
	}

	/**
	 * Posts a file with {@code Prefer: respond-async}, and looks until its job has ended.
	 * @param uri the address
	 * @param body the file
	 * @param form how it is written
	 * @return the records that the report says are applied
	 */
	public long postAsync(URI uri, Path body, Form form) {
		post(uri, body, form, "Prefer", "respond-async");
		try {
			Matcher id = JOB_ID.matcher(head(answer(0)));
			if (!id.find()) {
				throw new BenchmarkException("No job: " + head(answer(0)));
			}
			HttpRequest look = HttpRequest.newBuilder(uri.resolve("/v1/jobs/" + id.group(1))).build();
			while (true) {
				HttpResponse<String> response = this.client.send(look, BodyHandlers.ofString());
				if (response.headers().firstValue("Retry-After").isEmpty()) {
					return applied(response.body());
				}
				Thread.sleep(LOOK_MILLIS);
			}
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot look at the job of " + uri, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BenchmarkException("Interrupted", ex);
		}
	}

	private long post(List<URI> uris, @Nullable Path body, Map<String, String> headers) {
		try {
			Files.createDirectories(this.answers);
			if (this.curl.isPresent()) {
				curl(this.curl.get(), uris, body, headers);
			}
			else {
				send(uris, body, headers);
			}
			long applied = 0;
			for (int i = 0; i < uris.size(); i++) {
				applied += applied(head(answer(i)));
			}
			return applied;
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot post to " + uris, ex);
		}
	}

	private void curl(Program program, List<URI> uris, @Nullable Path body, Map<String, String> headers)
			throws IOException {
		List<String> arguments = new ArrayList<>(List.of("-sS", "-X", "POST", "-w", "%{http_code} "));
		if (body != null) {
			arguments.addAll(List.of("-T", body.toString()));
			headers.forEach((name, value) -> arguments.addAll(List.of("-H", name + ": " + value)));
		}
		for (int i = 0; i < uris.size(); i++) {
			arguments.addAll(List.of("-o", answer(i).toString(), uris.get(i).toString()));
		}
		String statuses = program.run(null, Map.of(), arguments);
		if (!STATUSES.matcher(statuses).matches()) {
			throw new BenchmarkException("The answers were " + statuses + ": " + Files.readString(answer(0)));
		}
	}

	private void send(List<URI> uris, @Nullable Path body, Map<String, String> headers) throws IOException {
		for (int i = 0; i < uris.size(); i++) {
			HttpRequest.Builder request = HttpRequest.newBuilder(uris.get(i));
			if (body != null) {
				headers.forEach(request::header);
				request.POST(BodyPublishers.ofFile(body));
			}
			else {
				request.POST(BodyPublishers.noBody());
			}
			try {
				HttpResponse<Path> response = this.client.send(request.build(), BodyHandlers.ofFile(answer(i)));
				if (!STATUSES.matcher(String.valueOf(response.statusCode())).matches()) {
					throw new BenchmarkException("The answer was " + Files.readString(answer(i)));
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new BenchmarkException("Interrupted", ex);
			}
		}
	}

	/**
	 * Reads an answer.
	 * @param answer a report
	 * @return the records that it says are applied
	 */
	public static long applied(String answer) {
		Matcher applied = APPLIED.matcher(answer);
		if (!applied.find()) {
			throw new BenchmarkException("No report: " + answer);
		}
		return Long.parseLong(applied.group(1));
	}

	/**
	 * The size of an answer to the last posts.
	 * @param number which, from 0
	 * @return bytes
	 */
	public long answerBytes(int number) {
		try {
			return Files.size(answer(number));
		}
		catch (IOException ex) {
			throw new BenchmarkException("There is no answer " + number, ex);
		}
	}

	/** Reads the part of an answer that has the counts. */
	private static String head(Path answer) throws IOException {
		try (InputStream in = Files.newInputStream(answer)) {
			return new String(in.readNBytes(HEAD_BYTES), StandardCharsets.UTF_8);
		}
	}

	private Path answer(int number) {
		return this.answers.resolve("answer-" + number + ".json");
	}

}
