package io.pipeset.keep;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

import io.pipeset.input.BodyEncoding;
import io.pipeset.input.SpooledBody;
import io.pipeset.input.StoredBytes;
import io.pipeset.input.UrlVersion;
import io.pipeset.record.Description;
import io.pipeset.record.Operation;
import io.pipeset.record.OperationFinder;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.request.Client;
import io.pipeset.request.InvalidSettingException;
import io.pipeset.request.JobSettings;
import io.pipeset.request.Setting;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The request of an asynchronous upload without its body, with all settings, so that
 * another process can resume the job even if the defaults of the service have changed.
 * The file exists until the job has ended: a process that finds it knows that the job has
 * not ended.
 *
 * @param client the name of the client that owns the job; {@code null} in a file of an
 * older version without clients
 * @param createdMillis when the job was requested, in milliseconds since 1970
 * @param bodyBytes the size of the body as it was received, before inflation
 * @param charset the charset of the inflated bytes; {@code null} in a file of an older
 * version that only knew UTF-8
 * @param declared how many records the caller has declared; {@code null} if none
 * @param settings the effective settings, as texts
 * @param operation the operation of records that name none; {@code null} if each record
 * must name one
 * @param described what a server has said of the operations that the settings name;
 * {@code null} in a file of an older version that only knew the table
 * @param url the resource that is the body; {@code null} if the body is in the spool
 */
public record SpooledRequest(@Nullable String client, long createdMillis, long bodyBytes, BodyEncoding encoding,
		RecordFormat format, @Nullable String charset, @Nullable Long declared, Map<String, List<String>> settings,
		@Nullable String operation, @Nullable Map<String, Description> described, @Nullable UrlVersion url) {

	private static final JsonMapper mapper = JsonMapper.builder().build();

	public static SpooledRequest of(Client client, SpooledBody body, @Nullable Long declared, JobSettings settings) {
		return new SpooledRequest(client.name(), System.currentTimeMillis(), body.bytes().bytes(), body.encoding(),
				body.format(), body.charset().name(), declared, settings.toTexts(),
				name(settings.records().operation()), settings.described(), body.url());
	}

	private static @Nullable String name(@Nullable Operation operation) {
		return (operation != null) ? operation.toString() : null;
	}

	/** Finds an operation of the table, or one that was described when the job began. */
	private @Nullable Operation find(byte[] bytes, int offset, int length) {
		Operation row = Operation.find(bytes, offset, length);
		String name = new String(bytes, offset, length, StandardCharsets.UTF_8).toUpperCase(Locale.ROOT);
		Map<String, Description> known = Objects.requireNonNullElse(this.described, Map.of());
		Description description = (name.indexOf(' ') < 0) ? known.get(name) : null;
		if (row != null || description != null) {
			return (row != null) ? row : Operation.described(name, Objects.requireNonNull(description));
		}
		Map<String, Operation> subcommands = new HashMap<>();
		known.forEach((command, inner) -> {
			Operation operation = Operation.described(command, inner);
			if (command.startsWith(name + " ") && operation != null) {
				subcommands.put(command.substring(name.length() + 1), operation);
			}
		});
		return (subcommands.isEmpty()) ? null : Operation.container(name, subcommands);
	}

	/**
	 * The body of the request.
	 * @param bytes the bytes of the body
	 * @throws OtherVersionException if this JVM does not know the charset
	 */
	public SpooledBody body(StoredBytes bytes) throws OtherVersionException {
		try {
			return new SpooledBody(bytes, this.encoding, this.format,
					(this.charset != null) ? Charset.forName(this.charset) : StandardCharsets.UTF_8, this.url);
		}
		catch (IllegalArgumentException ex) {
			throw new OtherVersionException("the charset '" + this.charset + "' is not known here", ex);
		}
	}

	/** The name of the client that owns the job. */
	public String owner() {
		return (this.client != null) ? this.client : Client.NONE;
	}

	/**
	 * Writes the request to the spool.
	 * @return the file, to be removed when the job has ended
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	public SpoolFile write(Spool spool, String jobId) throws SpoolException {
		SpoolFile file = spool.create(jobId + Spool.OF_JOB, null);
		try {
			file.writeAt(0, ByteBuffer.wrap(mapper.writeValueAsBytes(this)));
			file.closeChannel();
			return file;
		}
		catch (SpoolException | RuntimeException ex) {
			file.close();
			throw ex;
		}
	}

	/**
	 * Reads a request.
	 * @throws IOException if the file cannot be read, or is incomplete
	 * @throws OtherVersionException if it is complete, but has values that this version
	 * does not know
	 */
	public static SpooledRequest read(SpoolFile file) throws IOException {
		JsonNode request;
		try (InputStream in = file.open()) {
			request = mapper.readTree(in);
		}
		catch (JacksonException ex) {
			throw new IOException("the request is not whole", ex);
		}
		if (!request.isObject()) {
			throw new IOException("the request is not whole");
		}
		if (!request.hasNonNull("encoding")) {
			throw new OtherVersionException("its request is of a version that had other members", null);
		}
		try {
			return mapper.treeToValue(request, SpooledRequest.class);
		}
		catch (JacksonException ex) {
			throw new OtherVersionException("its request is of another version: " + ex.getOriginalMessage(), ex);
		}
	}

	/**
	 * The settings of the job.
	 * @param rateLimit its last rate limit in records per second, 0 for none;
	 * {@code null} if it was never changed
	 * @throws OtherVersionException if this version does not know the settings
	 */
	public JobSettings toSettings(@Nullable Long rateLimit) throws OtherVersionException {
		Map<String, List<String>> texts = new HashMap<>(this.settings);
		if (rateLimit != null) {
			texts.remove(Setting.RATE_LIMIT.name());
			if (rateLimit > 0) {
				texts.put(Setting.RATE_LIMIT.name(), List.of(Long.toString(rateLimit)));
			}
		}
		try {
			OperationFinder operations = this::find;
			return JobSettings.of(texts, (this.operation != null) ? operations.find(this.operation) : null, operations);
		}
		catch (InvalidSettingException ex) {
			throw new OtherVersionException("the setting '" + ex.setting() + "' " + ex.problem(), ex);
		}
	}

	/** The request is complete, but only another version of the service can run it. */
	public static final class OtherVersionException extends IOException {

		OtherVersionException(String message, @Nullable Exception cause) {
			super(message, cause);
		}

	}

}
