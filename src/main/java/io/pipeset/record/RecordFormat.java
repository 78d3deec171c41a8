package io.pipeset.record;

import java.io.InputStream;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * A form that records may be uploaded in, by media type; each is one type beside the
 * others.
 */
public sealed interface RecordFormat permits NdjsonFormat, JsonFormat, CsvFormat, TextFormat, RespFormat {

	/** All there are. */
	List<RecordFormat> ALL = List.of(new NdjsonFormat(), new JsonFormat(), new CsvFormat(), new TextFormat(),
			new RespFormat());

	/**
	 * Finds the format of a media type.
	 * @param mediaType type and subtype, without parameters, in any case
	 * @return the format, or {@code null}
	 */
	static @Nullable RecordFormat of(String mediaType) {
		String name = mediaType.toLowerCase(Locale.ROOT);
		String wanted = (NdjsonFormat.OTHER_NAMES.contains(name)) ? NdjsonFormat.NAME : name;
		return ALL.stream().filter((format) -> format.mediaType().equals(wanted)).findFirst().orElse(null);
	}

	/**
	 * The media type.
	 * @return type and subtype in lower case
	 */
	String mediaType();

	/**
	 * Opens a body of this format.
	 * @param body the bytes, inflated; read in pieces and never held whole
	 * @param defaultOperation for records that name none; {@code null} if they have to
	 * @param limit the largest record that is read
	 * @return its records
	 */
	RecordReader open(InputStream body, @Nullable Operation defaultOperation, RecordLimit limit);

}
