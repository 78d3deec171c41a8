package io.pipeset.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

import io.pipeset.web.KnownJobsController.StoredLook;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.jackson.JacksonComponent;

/** Copies a report from disk into an answer, member by member. */
@JacksonComponent
class StoredLookSerializer extends ValueSerializer<StoredLook> {

	private static final JsonMapper mapper = new JsonMapper();

	@Override
	public void serialize(StoredLook look, JsonGenerator json, SerializationContext context) {
		json.writeStartObject();
		try (InputStream file = look.report().open(); JsonParser report = mapper.createParser(file)) {
			report.nextToken();
			while (report.nextToken() == JsonToken.PROPERTY_NAME) {
				json.copyCurrentStructure(report);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		json.writePOJOProperty("progress", look.progress());
		if (look.ending() != null) {
			json.writePOJOProperty("ending", look.ending());
		}
		json.writeEndObject();
	}

}
