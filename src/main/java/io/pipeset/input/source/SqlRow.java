package io.pipeset.input.source;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Blob;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Struct;
import java.sql.Types;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.Temporal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Record;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import io.pipeset.record.grammar.JsonKind;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.State;
import io.pipeset.record.mapping.TableRow;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a query's row that templates name: numbers and booleans as JSON has
 * them, arrays and JSON as compact JSON, dates and times as texts of ISO 8601, bytes as
 * they are.
 */
final class SqlRow extends TableRow {

	/** Types whose texts are JSON: vectors of pgvector, and DuckDB's lists. */
	private static final Set<String> JSON = Set.of("json", "jsonb", "vector", "halfvec");

	/** Elements of PostgreSQL whose Java values differ from those of columns. */
	private static final Set<String> BY_COLUMN = Set.of("date", "timestamp", "timestamptz", "time", "timetz",
			"interval", "numeric", "json", "jsonb", "money", "bit");

	private final Column[] columns;

	private final ArgumentBytes values;

	private final JsonCursor cursor = new JsonCursor();

	/**
	 * Finds the names of templates among the columns.
	 * @param names the columns, by which {@link QueryRows} has checked the templates
	 */
	SqlRow(ResultSetMetaData metadata, List<String> names, Templates templates, Nulls nulls, RecordLimit limit)
			throws SQLException {
		super(templates, nulls, names, (name) -> Templates.place(name, names.indexOf(name), names.size()), true, "null",
				limit);
		this.values = new ArgumentBytes(limit.memory());
		this.columns = new Column[needed()];
		for (int i = 0; i < this.columns.length; i++) {
			this.columns[i] = new Column(metadata.getColumnType(i + 1), typeName(metadata, i + 1));
		}
	}

	/** The name of a type without its schema, in lower case. */
	private static String typeName(ResultSetMetaData columns, int at) throws SQLException {
		String name = String.valueOf(columns.getColumnTypeName(at)).toLowerCase(Locale.ROOT);
		return name.substring(name.lastIndexOf('.') + 1).replace("\"", "");
	}

	/** Takes the current row. */
	void read(ResultSet row) throws SQLException {
		begin();
		this.values.clear();
		for (int i = 0; i < this.columns.length; i++) {
			Column column = this.columns[i];
			if (needs(i)) {
				this.values.begin();
				column.state = write(row, i + 1, column.type, column.typeName);
				column.source = this.values.bytes();
				column.offset = this.values.start();
				column.length = this.values.length();
			}
		}
		readCells();
	}

	/** Makes the next record of the row. A refused one has the row as JSON. */
	void deliver(Record record) {
		record.begin(0);
		fill(record, null);
		if (record.rejection() != null) {
			ArgumentBytes json = writeWhole(false);
			record.copyRaw(json.bytes(), json.start(), json.start() + json.length());
		}
		record.row(number() + 1);
	}

	@Override
	protected State cell(int column) {
		return this.columns[column].state;
	}

	@Override
	protected byte[] cellSource(int column) {
		return this.columns[column].source;
	}

	@Override
	protected int cellOffset(int column) {
		return this.columns[column].offset;
	}

	@Override
	protected int cellLength(int column) {
		return this.columns[column].length;
	}

	@Override
	protected String emptiness() {
		return "null";
	}

	private State write(ResultSet row, int at, int type, String typeName) throws SQLException {
		if (JSON.contains(typeName)) {
			return writeJson(row.getString(at));
		}
		if (typeName.equals("money")) {
			return writeText(row.getString(at));
		}
		if (typeName.equals("timetz")) {
			return writeTime(row, at, OffsetTime.class);
		}
		return switch (type) {
			case Types.BOOLEAN -> {
				boolean value = row.getBoolean(at);
				yield writeObject((row.wasNull()) ? null : value);
			}
			case Types.TINYINT, Types.SMALLINT, Types.INTEGER, Types.BIGINT -> writeObject(row.getBigDecimal(at));
			case Types.BIT, Types.NUMERIC, Types.DECIMAL, Types.REAL, Types.FLOAT, Types.DOUBLE ->
				writeObject(row.getObject(at));
			case Types.BINARY, Types.VARBINARY, Types.LONGVARBINARY, Types.BLOB -> writeObject(row.getBytes(at));
			case Types.DATE -> writeTime(row, at, LocalDate.class);
			case Types.TIME -> writeTimeOfDay(row.getString(at));
			case Types.TIMESTAMP ->
				writeTime(row, at, (typeName.equals("timestamptz")) ? OffsetDateTime.class : LocalDateTime.class);
			case Types.TIMESTAMP_WITH_TIMEZONE -> writeTime(row, at, OffsetDateTime.class);
			case Types.ARRAY -> writeObject(row.getArray(at));
			case Types.CHAR, Types.VARCHAR, Types.LONGVARCHAR, Types.NCHAR, Types.NVARCHAR, Types.CLOB ->
				writeText(row.getString(at));
			default -> writeOther(row, at);
		};
	}

	/**
	 * Writes a date or a time. What Java has no value for, such as PostgreSQL's infinity
	 * or a day 0 of MariaDB, is written as the database does.
	 */
	private State writeTime(ResultSet row, int at, Class<? extends Temporal> type) throws SQLException {
		Temporal time;
		try {
			time = row.getObject(at, type);
		}
		catch (SQLException | DateTimeException ex) {
			return writeText(row.getString(at));
		}
		if (time != null && (time.equals(OffsetDateTime.MAX) || time.equals(OffsetDateTime.MIN)
				|| time.equals(LocalDateTime.MAX) || time.equals(LocalDateTime.MIN) || time.equals(LocalDate.MAX)
				|| time.equals(LocalDate.MIN))) {
			return writeText(row.getString(at));
		}
		return writeText((time != null) ? text(time) : null);
	}

	/** A type of the database alone, such as an enum, an interval or a list. */
	private State writeOther(ResultSet row, int at) throws SQLException {
		Object value = row.getObject(at);
		if (value == null || value instanceof Number || value instanceof Boolean || value instanceof byte[]) {
			return writeObject(value);
		}
		return (writeComposite(value)) ? State.COMPOSITE : writeText(row.getString(at));
	}

	/** Writes a value as the driver has it. */
	private State writeObject(@Nullable Object value) throws SQLException {
		if (value == null) {
			return State.NULL;
		}
		byte[] bytes = (value instanceof Blob blob) ? blob.getBytes(1, (int) blob.length())
				: (value instanceof byte[] array) ? array : null;
		if (bytes != null) {
			this.values.append(bytes, 0, bytes.length);
			return State.BYTES;
		}
		String literal = literal(value);
		if (literal != null) {
			this.values.append(literal);
			return State.SCALAR;
		}
		return (writeComposite(value)) ? State.COMPOSITE : writeText(text(value));
	}

	/** Writes an array or an object; {@code false} for any other value. */
	private boolean writeComposite(Object value) throws SQLException {
		if (value instanceof Array array) {
			writeArray(array);
		}
		else if (value instanceof List<?> list) {
			writeElements(list);
		}
		else if (value instanceof Object[] array) {
			writeElements(Arrays.asList(array));
		}
		else if (value instanceof Map<?, ?> members) {
			writeMembers(members);
		}
		else if (value instanceof Struct struct) {
			writeStruct(struct);
		}
		else {
			return false;
		}
		return true;
	}

	/**
	 * The text of a number or a boolean; {@code null} for anything else, also for NaN. A
	 * float without a fraction is written without one, but for a negative zero.
	 */
	private static @Nullable String literal(Object value) {
		if (value instanceof BigDecimal number) {
			return number.toPlainString();
		}
		if (value instanceof Double || value instanceof Float) {
			double number = ((Number) value).doubleValue();
			boolean whole = number == Math.rint(number) && Math.abs(number) < 1e15
					&& Double.doubleToRawLongBits(number) != Double.doubleToRawLongBits(-0.0);
			return (Double.isNaN(number) || Double.isInfinite(number)) ? null
					: (whole) ? Long.toString((long) number) : value.toString();
		}
		return (value instanceof Number || value instanceof Boolean) ? value.toString() : null;
	}

	private State writeText(@Nullable String text) {
		if (text == null) {
			return State.NULL;
		}
		this.values.append(text);
		return State.TEXT;
	}

	/** A text that is no JSON, though its column is, stays a text. */
	private State writeJson(@Nullable String json) {
		if (json == null) {
			return State.NULL;
		}
		byte[] text = json.getBytes(StandardCharsets.UTF_8);
		JsonKind kind = compact(text);
		if (kind == null || kind == JsonKind.NULL) {
			return (kind != null) ? State.NULL : writeText(json);
		}
		this.values.append(text, this.cursor.offset(), this.cursor.length());
		return State.of(kind);
	}

	/** Reads a text as JSON, and removes its white space; {@code null} if it is none. */
	private @Nullable JsonKind compact(byte[] text) {
		try {
			this.cursor.begin(text, 0, text.length);
			JsonKind kind = this.cursor.readValue(0);
			this.cursor.expectEnd();
			return (this.cursor.contentFault() == null) ? kind : null;
		}
		catch (JsonFault fault) {
			return null;
		}
	}

	private void writeArray(Array array) throws SQLException {
		if (array.getClass().getName().startsWith("org.postgresql.") && BY_COLUMN.contains(array.getBaseTypeName())) {
			try (ResultSet elements = array.getResultSet()) {
				writeColumn(elements);
			}
			return;
		}
		Object elements = array.getArray();
		List<@Nullable Object> list = new ArrayList<>();
		for (int i = 0; i < java.lang.reflect.Array.getLength(elements); i++) {
			list.add(java.lang.reflect.Array.get(elements, i));
		}
		writeElements(list);
		array.free();
	}

	/** Writes the elements of an array as values of a column are written. */
	private void writeColumn(ResultSet elements) throws SQLException {
		int type = elements.getMetaData().getColumnType(2);
		String typeName = typeName(elements.getMetaData(), 2);
		char before = '[';
		while (elements.next()) {
			this.values.append(before);
			makeJson(this.values.length(), write(elements, 2, type, typeName));
			before = ',';
		}
		this.values.append((before == '[') ? "[]" : "]");
	}

	private void writeElements(List<? extends @Nullable Object> elements) throws SQLException {
		char before = '[';
		for (Object element : elements) {
			this.values.append(before);
			makeJson(this.values.length(), writeObject(element));
			before = ',';
		}
		this.values.append((before == '[') ? "[]" : "]");
	}

	private void writeMembers(Map<?, ?> members) throws SQLException {
		char before = '{';
		for (Map.Entry<?, ?> member : members.entrySet()) {
			this.values.append(before);
			makeJson(this.values.length(), writeText(String.valueOf(member.getKey())));
			this.values.append(':');
			makeJson(this.values.length(), writeObject(member.getValue()));
			before = ',';
		}
		this.values.append((before == '{') ? "{}" : "}");
	}

	/** DuckDB's structs have names, which JDBC does not know of. */
	private void writeStruct(Struct struct) throws SQLException {
		try {
			writeMembers((Map<?, ?>) struct.getClass().getMethod("getMap").invoke(struct));
		}
		catch (ReflectiveOperationException ex) {
			writeElements(Arrays.asList(struct.getAttributes()));
		}
	}

	/** Makes the value that was written last, from an index on, an element of JSON. */
	private void makeJson(int from, State state) {
		if (state != State.SCALAR && state != State.COMPOSITE) {
			int start = this.values.start();
			byte[] value = Arrays.copyOfRange(this.values.bytes(), start + from, start + this.values.length());
			this.values.cut(from);
			state.append(this.values, value, 0, value.length);
		}
	}

	/**
	 * Times as the database writes them, which may be negative or of more than a day in
	 * MariaDB. They have seconds, which DuckDB leaves out if they are 0, and no zeros at
	 * the end of a fraction.
	 */
	private State writeTimeOfDay(@Nullable String time) {
		String text = (time != null) ? time.replaceFirst("^(\\d\\d:\\d\\d)(?!:)", "$1:00") : null;
		return writeText(
				(text != null) ? text.replaceFirst("(\\.\\d*?)0+(?!\\d)", "$1").replaceFirst("\\.(?!\\d)", "") : null);
	}

	/** The text of a value that is none of JSON's kinds. */
	private static String text(Object value) {
		if (value instanceof java.sql.Timestamp time) {
			return text(time.toLocalDateTime());
		}
		if (value instanceof java.sql.Date date) {
			return text(date.toLocalDate());
		}
		if (value instanceof java.sql.Time time) {
			return text(time.toLocalTime());
		}
		if (value instanceof LocalDateTime local) {
			return DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(local);
		}
		if (value instanceof OffsetDateTime offset) {
			return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(offset.withOffsetSameInstant(ZoneOffset.UTC));
		}
		if (value instanceof OffsetTime offset) {
			return DateTimeFormatter.ISO_OFFSET_TIME.format(offset.withOffsetSameInstant(ZoneOffset.UTC));
		}
		return (value instanceof LocalTime local) ? DateTimeFormatter.ISO_LOCAL_TIME.format(local) : value.toString();
	}

	/** A column, and its value in the current row. */
	private static final class Column {

		private final int type;

		private final String typeName;

		private State state = State.NULL;

		private byte[] source = {};

		private int offset;

		private int length;

		Column(int type, String typeName) {
			this.type = type;
			this.typeName = typeName;
		}

	}

}
