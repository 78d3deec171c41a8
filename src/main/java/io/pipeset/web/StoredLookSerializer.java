package io.pipeset.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.report.JobStatus;
import io.pipeset.web.JobLooks.StoredLook;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.jackson.JacksonComponent;

/**
 * Copies a report from disk, or from the control Redis, into an answer, member by member.
 */
@JacksonComponent
class StoredLookSerializer extends ValueSerializer<StoredLook> {

	private static final JsonMapper mapper = new JsonMapper();

	@Override
	public void serialize(StoredLook look, JsonGenerator json, SerializationContext context) {
		JobStatus status = look.status();
		json.writeStartObject();
		List<Object> warnings = new ArrayList<>(look.warnings());
		try (InputStream bytes = look.report().get(); JsonParser report = mapper.createParser(bytes)) {
			report.nextToken();
			while (report.nextToken() == JsonToken.PROPERTY_NAME) {
				if (report.currentName().equals("state")) {
					// It may have been written before the job was interrupted.
					report.nextToken();
					json.writePOJOProperty("state", status.state());
				}
				else if (report.currentName().equals("warnings")) {
					report.nextToken();
					report.<JsonNode>readValueAsTree().forEach(warnings::add);
				}
				else {
					json.copyCurrentStructure(report);
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

}
