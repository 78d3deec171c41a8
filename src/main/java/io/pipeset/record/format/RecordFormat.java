package io.pipeset.record.format;

import java.io.InputStream;
import java.util.Locale;
import java.util.Set;

import io.pipeset.record.Operation;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.csv.CsvReader;
import io.pipeset.record.csv.CsvSyntax;
import io.pipeset.record.json.JsonArrayReader;
import io.pipeset.record.json.NdjsonReader;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.resp.RespReader;
import io.pipeset.record.resp.TextReader;
import org.jspecify.annotations.Nullable;

/** The upload formats, one row each, by media type. */
public enum RecordFormat {

	/**
	 * One JSON record per line, so that an invalid line does not affect other lines. No
	 * media type is registered for this format, and several are in use.
	 */
	NDJSON("application/x-ndjson", NdjsonReader::new, "application/ndjson", "application/jsonl", "application/x-jsonl",
			"application/jsonlines", "application/x-jsonlines"),

	/** One JSON array of records, for callers whose libraries write only this. */
	JSON("application/json", JsonArrayReader::new),

	/** Rows after a header, as spreadsheets and databases export them. */
	CSV("text/csv",
			(body, operation, mapping, limit) -> new CsvReader(body, new CsvSyntax(mapping.cells(), true), operation,
					mapping, limit)),

	/** Like CSV, but separated by tabs and without quotes. */
	TSV("text/tab-separated-values",
			(body, operation, mapping, limit) -> new CsvReader(body, new CsvSyntax(mapping.cells(), false), operation,
					mapping, limit)),

	/** One command per line, as in redis-cli. */
	TEXT("text/plain", (body, operation, mapping, limit) -> new TextReader(body, limit)),

	/** Commands in RESP, such as the files for redis-cli --pipe. */
	RESP("application/x-redis-resp", (body, operation, mapping, limit) -> new RespReader(body, limit));

	private final String mediaType;

	private final Opener opener;

	private final Set<String> aliases;

	RecordFormat(String mediaType, Opener opener, String... aliases) {
		this.mediaType = mediaType;
		this.opener = opener;
		this.aliases = Set.of(aliases);
	}

	/**
	 * Finds the format of a media type.
	 * @param mediaType type and subtype, without parameters, in any case
	 * @return the format, or {@code null}
	 */
	public static @Nullable RecordFormat of(String mediaType) {
		String name = mediaType.toLowerCase(Locale.ROOT);
		for (RecordFormat format : values()) {
			if (format.mediaType.equals(name) || format.aliases.contains(name)) {
				return format;
			}
		}
		return null;
	}

	/**
	 * Finds the format of a file by the end of its name, before that of a compression.
	 * @return the format, or {@code null}
	 */
	public static @Nullable RecordFormat ofFile(String name) {
		String plain = name.toLowerCase(Locale.ROOT).replaceFirst("\\.(gz|zst)$", "");
		return switch (plain.substring(plain.lastIndexOf('.') + 1)) {
			case "ndjson", "jsonl" -> NDJSON;
			case "json" -> JSON;
			case "csv" -> CSV;
			case "tsv" -> TSV;
			case "txt" -> TEXT;
			case "resp", "aof" -> RESP;
			default -> null;
		};
	}

	/** The name of the format as a setting. */
	public String label() {
		return name().toLowerCase(Locale.ROOT);
	}

	/**
	 * The media type.
	 * @return type and subtype in lower case
	 */
	public String mediaType() {
		return this.mediaType;
	}

	/**
	 * Whether bodies of this format may have any charset.
	 * @return {@code false} if the format is always UTF-8, or binary
	 */
	public boolean hasCharsets() {
		return this == CSV || this == TSV || this == TEXT;
	}

	/**
	 * Opens a body of this format.
	 * @param body the bytes, inflated and in UTF-8; read in pieces, never held completely
	 * in memory
	 * @param defaultOperation the operation of records that name none; {@code null} if
	 * each record must name its own
	 * @param mapping how rows or objects become records; ignored for formats of commands
	 */
	public RecordReader open(InputStream body, @Nullable Operation defaultOperation, Mapping mapping,
			RecordLimit limit) {
		return this.opener.open(body, defaultOperation, mapping, limit);
	}

	/**
	 * Opens a body of this format whose rows or objects are records already.
	 * @param body the bytes, inflated; read in pieces, never held completely in memory
	 * @param defaultOperation the operation of records that name none; {@code null} if
	 * each record must name its own
	 */
	public RecordReader open(InputStream body, @Nullable Operation defaultOperation, RecordLimit limit) {
		return open(body, defaultOperation, Mapping.NONE, limit);
	}

	/** The constructor of a format's reader. */
	private interface Opener {

		RecordReader open(InputStream body, @Nullable Operation operation, Mapping mapping, RecordLimit limit);

	}

}
