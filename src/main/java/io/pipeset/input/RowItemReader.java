package io.pipeset.input;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.pipeset.record.Notice;
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
import io.pipeset.record.mapping.Templates;
import io.pipeset.record.memory.ChildReservation;
import io.pipeset.request.InvalidSettingException;
import io.pipeset.request.JobSettings;
import io.pipeset.request.Setting;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads records, and among them the items of rows that could not become records: each row
 * is read again, by the settings in its item.
 */
final class RowItemReader implements RecordReader {

	/** The memory of parsed settings, in bytes for each character of their JSON. */
	private static final long SETTINGS_FACTOR = 32;

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private final RecordReader items;

	private final RecordLimit limit;

	private final ChildReservation settingsMemory;

	private final ChildReservation rowMemory;

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
		this.settingsMemory = new ChildReservation(limit.memory());
		this.rowMemory = new ChildReservation(limit.memory());
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
		catch (InvalidSettingException | JacksonException ex) {
			String reason = (ex instanceof InvalidSettingException) ? ex.getMessage() : "it is not JSON with texts";
			record.reject(Rejection.MALFORMED, "in the item's 'settings', " + reason);
			return false;
		}
		JobSettings settings = Objects.requireNonNull(this.settings);
		byte[] text = (prefix() + found.row() + ((settings.records().mapping().rows().entries()) ? "}" : ""))
			.getBytes(StandardCharsets.UTF_8);
		this.row = Objects.requireNonNull(this.format)
			.open(new ByteArrayInputStream(text), settings.records().operation(), settings.records().mapping(),
					this.limit.withMemory(this.rowMemory));
		this.item = found;
		this.line = record.line();
		record.takeBack();
		record.setDefaults(settings.records().recordDefaults());
		return true;
	}

	/**
	 * The text before the row, which makes it a row in the middle of a body: what only
	 * the beginning of a body may have is data.
	 */
	private String prefix() {
		Mapping mapping = Objects.requireNonNull(this.settings).records().mapping();
		if (mapping.rows().entries()) {
			return "{";
		}
		Character delimiter = mapping.cells().delimiter();
		// An empty line may be a row of one empty cell.
		boolean emptyRows = !mapping.cells().nulls().isEmpty();
		return switch (Objects.requireNonNull(this.format)) {
			case CSV -> "sep=" + ((delimiter != null) ? delimiter : ',') + "\n";
			case TSV -> (emptyRows) ? "" : "\n";
			case TEXT, NDJSON -> "\n";
			default -> "";
		};
	}

	private void parse(String json) {
		Map<String, List<String>> texts = new LinkedHashMap<>();
		RecordFormat found = null;
		String operation = null;
		long index = 0;
		for (Map.Entry<String, JsonNode> member : mapper.readTree(json).properties()) {
			JsonNode value = member.getValue();
			String name = member.getKey();
			String text = value.asString("");
			if (name.equals(RowItem.TYPE)) {
				found = RecordFormat.of(text);
			}
			else if (name.equals(JobSettings.DEFAULT_OP)) {
				operation = text;
			}
			else if (name.equals(RowItem.INDEX) && text.matches("[0-9]{1,18}")) {
				index = Long.parseLong(text);
			}
			else if (Setting.namesOfRows().contains(name)) {
				texts.put(name, (value.isArray()) ? value.valueStream().map((one) -> one.asString("")).toList()
						: List.of(text));
			}
			else {
				throw new InvalidSettingException(Excerpt.of(name),
						"is not known; allowed are 'type' and " + String.join(", ", Setting.namesOfRows()));
			}
		}
		if (found == null) {
			throw new InvalidSettingException(RowItem.TYPE, "takes the media type of the row, as the item had it");
		}
		JobSettings parsed = JobSettings.of(texts, (operation != null) ? this.limit.operations().find(operation) : null,
				this.limit.operations());
		this.settingsMemory.releaseAll();
		this.settingsMemory.reserve(SETTINGS_FACTOR * json.length() + parsed.records().mapping().bytes());
		Templates templates = parsed.records().mapping().templates();
		if (templates != null) {
			templates.setFirstRow(index);
		}
		this.settings = parsed;
		this.format = found;
	}

	/** Reads the next record of the row; {@code false} if there are no more. */
	private boolean readRow(RecordReader row, Record record) throws IOException {
		boolean read;
		try {
			read = row.read(record);
			if (read && record.rejection() == null) {
				Objects.requireNonNull(this.settings).admit(record);
			}
		}
		catch (MalformedBodyException ex) {
			read = true;
			this.row = null;
			byte[] text = Objects.requireNonNull(this.item).row().getBytes(StandardCharsets.UTF_8);
			record.copyRaw(text, 0, text.length);
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
			this.rowMemory.releaseAll();
		}
		return read;
	}

	@Override
	public List<Notice> notices() {
		return this.items.notices();
	}

	@Override
	public double consumed() {
		return this.items.consumed();
	}

}
