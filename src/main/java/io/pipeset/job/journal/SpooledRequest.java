package io.pipeset.job.journal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.job.Client;
import io.pipeset.job.input.SpooledBody;
import io.pipeset.job.settings.InvalidSettingException;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.job.settings.Setting;
import io.pipeset.job.spool.Spool;
import io.pipeset.job.spool.SpoolException;
import io.pipeset.job.spool.SpoolFile;
import io.pipeset.record.Operation;
import io.pipeset.record.format.RecordFormat;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * All that is needed beside its body to run an upload once more exactly as it was asked
 * for, whatever the defaults of the service are by then. It is kept until the job has
 * ended, so that a process that finds it knows that the job did not.
 *
 * @param client the name of the client whose job it is; {@code null} in a file of a
 * version without clients
 * @param createdMillis when the job was asked for, in milliseconds since 1970
 * @param bodyBytes the size of the body, as it came over the wire
 * @param charset that of the bytes, once inflated; {@code null} in a file of a version
 * that knew UTF-8 alone
 * @param declared how many records the caller says there are; {@code null} if it does not
 * say
 * @param settings the texts of the settings in effect
 * @param operation the operation of records that name none; {@code null} if they have to
 */
public record SpooledRequest(@Nullable String client, long createdMillis, long bodyBytes, boolean gzipped,
		RecordFormat format, @Nullable String charset, @Nullable Long declared, Map<String, List<String>> settings,
		@Nullable Operation operation) {

	private static final JsonMapper mapper = JsonMapper.builder().build();

	public static SpooledRequest of(Client client, SpooledBody body, @Nullable Long declared, JobSettings settings) {
		return new SpooledRequest(client.name(), System.currentTimeMillis(), body.file().bytes(), body.gzipped(),
				body.format(), body.charset().name(), declared, settings.toTexts(), settings.operation());
	}

	/**
	 * The body of the request.
	 * @param file the bytes
	 * @throws OtherVersionException if this JVM does not know their charset
	 */
	public SpooledBody body(SpoolFile file) throws OtherVersionException {
		try {
			return new SpooledBody(file, this.gzipped, this.format,
					(this.charset != null) ? Charset.forName(this.charset) : StandardCharsets.UTF_8);
		}
		catch (IllegalArgumentException ex) {
			throw new OtherVersionException("the charset '" + this.charset + "' is not known here", ex);
		}
	}

	/** The name of the client whose job it is. */
	public String owner() {
		return (this.client != null) ? this.client : Client.NONE;
	}

	/**
	 * Writes the request.
	 * @return a file whose presence says that the job has not ended
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	public SpoolFile write(Spool spool, String jobId) throws SpoolException {
		SpoolFile file = spool.create(jobId + Spool.OF_JOB, null);
		try {
			file.writeAt(0, ByteBuffer.wrap(mapper.writeValueAsBytes(this)));
			file.rest();
			return file;
		}
		catch (SpoolException | RuntimeException ex) {
			file.close();
			throw ex;
		}
	}

	/**
	 * Reads a request.
	 * @throws IOException if the file cannot be read, or is not whole
	 * @throws OtherVersionException if it is whole, and this version does not know what
	 * it says
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
		try {
			return mapper.treeToValue(request, SpooledRequest.class);
		}
		catch (JacksonException ex) {
			throw new OtherVersionException("its request is of another version: " + ex.getOriginalMessage(), ex);
		}
	}

	/**
	 * The settings that the job was run with.
	 * @param rateLimit its last pace in records a second, 0 for none; {@code null} if it
	 * was never changed
	 * @throws OtherVersionException if this version does not know them
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
			return JobSettings.of(texts, this.operation);
		}
		catch (InvalidSettingException ex) {
			throw new OtherVersionException("the setting '" + ex.setting() + "' " + ex.problem(), ex);
		}
	}

	/** The request is whole, and another version of the service can run it. */
	public static final class OtherVersionException extends IOException {

		OtherVersionException(String message, Exception cause) {
			super(message, cause);
		}

	}

}
