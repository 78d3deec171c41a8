package io.pipeset.web;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.report.JobStatus;
import io.pipeset.web.JobLooks.StoredLook;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.jackson.JacksonComponent;

/**
 * Copies a report from disk, or from the control Redis, into an answer: a piece at a
 * time, as many callers may read slowly at once.
 */
@JacksonComponent
class StoredLookSerializer extends ValueSerializer<StoredLook> {

	private static final JsonMapper mapper = new JsonMapper();

	@Override
	public void serialize(StoredLook look, JsonGenerator json, SerializationContext context) {
		JobStatus status = look.status();
		json.writeStartObject();
		List<Object> warnings = new ArrayList<>(look.warnings());
		try (JsonMembers report = new JsonMembers(look.report().get())) {
			for (String name = report.next(); name != null; name = report.next()) {
				if (name.equals("state")) {
					// It may have been written before the job was interrupted.
					report.copyValue(Writer.nullWriter());
					json.writePOJOProperty("state", status.state());
				}
				else if (name.equals("counts") && status.counts() != null) {
					report.copyValue(Writer.nullWriter());
					json.writePOJOProperty("counts", status.counts());
				}
				else if (name.equals("warnings")) {
					StringWriter text = new StringWriter();
					report.copyValue(text);
					mapper.readTree(text.toString()).forEach(warnings::add);
				}
				else {
					json.writeName(name);
					json.writeRawValue("");
					report.copyValue(new RawWriter(json));
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		if (!warnings.isEmpty()) {
			json.writePOJOProperty("warnings", warnings);
		}
		json.writePOJOProperty("progress", status.progress());
		if (status.ending() != null) {
			json.writePOJOProperty("ending", status.ending());
		}
		if (look.instance() != null) {
			json.writeStringProperty("instance", look.instance());
		}
		json.writeEndObject();
	}

	/** Writes JSON as it is. */
	private static final class RawWriter extends Writer {

		private final JsonGenerator json;

		RawWriter(JsonGenerator json) {
			this.json = json;
		}

		@Override
		public void write(char[] piece, int offset, int length) {
			this.json.writeRaw(piece, offset, length);
		}

		@Override
		public void flush() {
		}

		@Override
		public void close() {
		}

	}

}
