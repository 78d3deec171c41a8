package io.pipeset.web;

import io.pipeset.record.encoding.Encoding;
import io.pipeset.report.PoppedValues;
import io.pipeset.report.PoppedValues.Display;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;

import org.springframework.boot.jackson.JacksonComponent;

/**
 * Writes popped values to JSON directly from their bytes, because a job may pop 100,000
 * values, and most of them are ASCII that needs no decoding.
 */
@JacksonComponent
class PoppedValuesSerializer extends ValueSerializer<PoppedValues> {

	@Override
	public void serialize(PoppedValues values, JsonGenerator json, SerializationContext context) {
		json.writeStartArray();
		values.visit((bytes, from, to, display) -> write(json, bytes, from, to, display));
		json.writeEndArray();
	}

	private static void write(JsonGenerator json, byte[] bytes, int from, int to, Display display) {
		if (display.isPlain() && Encoding.isAscii(bytes, from, to)) {
			json.writeUTF8String(bytes, from, to - from);
		}
		else {
			json.writePOJO(display.show(bytes, from, to));
		}
	}

}
