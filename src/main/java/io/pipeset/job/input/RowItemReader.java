package io.pipeset.job.input;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.job.settings.InvalidSettingException;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.job.settings.Setting;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.RowItem;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.mapping.Mapping;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads records, and among them the items of rows that could not become records: each row
 * is read again, by the settings in its item.
 */
final class RowItemReader implements RecordReader {

	/** The member of an item's settings that has the media type of its row. */
	static final String TYPE = "type";

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private final RecordReader items;

	private final RecordLimit limit;

	/** The settings of the last item as JSON, which most items share. */
	private String json = "";

	private @Nullable RecordFormat format;

	private @Nullable JobSettings settings;

	/** The records of the current row; {@code null} if all of them were read. */
	private @Nullable RecordReader row;

	private @Nullable RowItem item;

	private long line;

	private RowItemReader(RecordReader items, RecordLimit limit) {
		this.items = items;
		this.limit = limit;
	}

	/**
	 * Opens a body, in which there may be items of rows if it has records as JSON.
	 * @param body the bytes, decompressed and in UTF-8
	 * @param operation the operation of records that name none, or {@code null}
	 */
	static RecordReader open(RecordFormat format, InputStream body, @Nullable Operation operation, Mapping mapping,
			RecordLimit limit) {
		RecordReader records = format.open(body, operation, mapping, limit);
		boolean mayHaveItems = mapping.templates() == null
				&& (format == RecordFormat.NDJSON || format == RecordFormat.JSON);
		return (mayHaveItems) ? new RowItemReader(records, limit) : records;
	}

	@Override
	public boolean read(Record record) throws IOException {
		while (true) {
			RecordReader row = this.row;
			if (row != null && readRow(row, record)) {
				return true;
			}
			if (!this.items.read(record)) {
				return false;
			}
			RowItem found = record.item();
			if (found == null || !openRow(found, record)) {
				return true;
			}
		}
	}

	/** Opens the row of an item; if its settings are wrong, the record is refused. */
	private boolean openRow(RowItem found, Record record) {
		try {
			if (!found.settings().equals(this.json)) {
				this.json = "";
				parse(found.settings());
				this.json = found.settings();
			}
		}
		catch (InvalidSettingException ex) {
			record.reject(Rejection.MALFORMED, "in the item's 'settings', " + ex.getMessage());
			return false;
		}
		JobSettings settings = this.settings;
		RecordFormat format = this.format;
		if (settings == null || format == null) {
			return false;
		}
		String text = (settings.mapping().entries()) ? "{" + found.row() + "}" : found.row();
		this.row = format.open(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), settings.operation(),
				settings.mapping(), this.limit);
		this.item = found;
		this.line = record.line();
		record.takeBack();
		record.setDefaults(settings.recordDefaults());
		return true;
	}

	private void parse(String json) {
		Map<String, List<String>> texts = new LinkedHashMap<>();
		RecordFormat found = null;
		for (Map.Entry<String, JsonNode> member : mapper.readTree(json).properties()) {
			JsonNode value = member.getValue();
			if (member.getKey().equals(TYPE)) {
				found = RecordFormat.of(value.asString(""));
			}
			else if (Setting.namesOfRows().contains(member.getKey())) {
				texts.put(member.getKey(), (value.isArray())
						? value.valueStream().map((text) -> text.asString("")).toList() : List.of(value.asString("")));
			}
			else {
				throw new InvalidSettingException(Excerpt.of(member.getKey()),
						"is not known; allowed are 'type' and " + String.join(", ", Setting.namesOfRows()));
			}
		}
		if (found == null) {
			throw new InvalidSettingException(TYPE, "takes the media type of the row, as the item had it");
		}
		this.settings = JobSettings.of(texts, null, this.limit.operations());
		this.format = found;
	}

	/** Reads the next record of the row; {@code false} if there are no more. */
	private boolean readRow(RecordReader row, Record record) throws IOException {
		boolean read;
		try {
			read = row.read(record);
			if (read && record.rejection() == null && this.settings != null) {
				this.settings.admit(record);
			}
		}
		catch (MalformedBodyException ex) {
			read = true;
			this.row = null;
			record.begin(this.line);
			record.reject(Rejection.MALFORMED, "in the item's 'raw', " + ex.getMessage());
		}
		if (read) {
			record.line(this.line);
			record.item(this.item);
		}
		else {
			this.row = null;
		}
		if (this.row == null) {
			record.setDefaults(null);
		}
		return read;
	}

	@Override
	public long transactions() {
		return this.items.transactions();
	}

	@Override
	public double consumed() {
		return this.items.consumed();
	}

}
