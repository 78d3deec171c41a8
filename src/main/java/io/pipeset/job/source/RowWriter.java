package io.pipeset.job.source;

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
import java.time.Instant;
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
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/**
 * Writes the rows of a query as JSON, an object a line: numbers, booleans, arrays and
 * JSON as what they are, dates and times as texts of ISO 8601, bytes as a string of these
 * bytes.
 */
final class RowWriter {

	/** Types whose texts are JSON arrays: vectors of pgvector and DuckDB's lists. */
	private static final Set<String> JSON = Set.of("json", "jsonb", "vector", "halfvec");

	/** Elements of PostgreSQL whose Java values differ from those of columns. */
	private static final Set<String> BY_COLUMN = Set.of("date", "timestamp", "timestamptz", "time", "timetz",
			"interval", "numeric", "json", "jsonb", "money", "bit");

	/** The names of all columns. */
	private final List<String> names = new ArrayList<>();

	/** The columns that templates need. Others are not read. */
	private final List<Column> columns = new ArrayList<>();

	private final JsonBuffer json = new JsonBuffer();

	/** Whether the row itself becomes a value, which has to be valid JSON. */
	private final boolean whole;

	RowWriter(ResultSetMetaData columns, Templates templates) throws SQLException {
		this.whole = templates.names().contains(Template.WHOLE);
		for (int i = 1; i <= columns.getColumnCount(); i++) {
			String name = columns.getColumnLabel(i);
			this.names.add(name);
			if (templates.needs(name)) {
				this.columns.add(new Column(i, prefix(name), columns.getColumnType(i), typeName(columns, i)));
			}
		}
		this.json.clear();
	}

	/** The name of a type without its schema, in lower case. */
	private static String typeName(ResultSetMetaData columns, int at) throws SQLException {
		String name = String.valueOf(columns.getColumnTypeName(at)).toLowerCase(Locale.ROOT);
		return name.substring(name.lastIndexOf('.') + 1).replace("\"", "");
	}

	/** The beginning of a member: its name and what is before it. */
	private byte[] prefix(String name) {
		this.json.clear();
		this.json.append((byte) ((this.columns.isEmpty()) ? '{' : ','));
		this.json.writeString(name.getBytes(StandardCharsets.UTF_8));
		this.json.append((byte) ':');
		return Arrays.copyOf(this.json.bytes(), this.json.length());
	}

	List<String> names() {
		return this.names;
	}

	/** The rows that were written since it was cleared. */
	JsonBuffer json() {
		return this.json;
	}

	/** Writes the current row. */
	void write(ResultSet row) throws SQLException {
		for (Column column : this.columns) {
			this.json.append(column.prefix);
			write(row, column.number, column);
		}
		if (this.columns.isEmpty()) {
			this.json.append((byte) '{');
		}
		this.json.append((byte) '}');
		this.json.append((byte) '\n');
	}

	private void write(ResultSet row, int at, Column column) throws SQLException {
		if (JSON.contains(column.typeName)) {
			this.json.writeJson(row.getString(at));
			return;
		}
		if (column.typeName.equals("money")) {
			this.json.writeText(row.getString(at));
			return;
		}
		if (column.typeName.equals("timetz")) {
			writeTime(row, at, OffsetTime.class);
			return;
		}
		switch (column.type) {
			case Types.BOOLEAN -> {
				boolean value = row.getBoolean(at);
				this.json.writeLiteral((row.wasNull()) ? null : String.valueOf(value));
			}
			case Types.BIT -> writeObject(row.getObject(at));
			case Types.TINYINT, Types.SMALLINT, Types.INTEGER, Types.BIGINT -> writeNumber(row.getBigDecimal(at));
			case Types.NUMERIC, Types.DECIMAL, Types.REAL, Types.FLOAT, Types.DOUBLE -> writeObject(row.getObject(at));
			case Types.BINARY, Types.VARBINARY, Types.LONGVARBINARY, Types.BLOB -> writeBytes(row.getBytes(at));
			case Types.DATE -> writeTime(row, at, LocalDate.class);
			case Types.TIME -> writeTimeOfDay(row.getString(at));
			case Types.TIMESTAMP -> writeTime(row, at,
					(column.typeName.equals("timestamptz")) ? OffsetDateTime.class : LocalDateTime.class);
			case Types.TIMESTAMP_WITH_TIMEZONE -> writeTime(row, at, OffsetDateTime.class);
			case Types.ARRAY -> writeArray(row.getArray(at));
			case Types.CHAR, Types.VARCHAR, Types.LONGVARCHAR, Types.NCHAR, Types.NVARCHAR, Types.CLOB ->
				this.json.writeText(row.getString(at));
			default -> writeOther(row, at);
		}
	}

	/**
	 * Writes a date or a time. What Java has no value for, such as PostgreSQL's infinity
	 * or a day 0 of MariaDB, is written as the database does.
	 */
	private void writeTime(ResultSet row, int at, Class<? extends Temporal> type) throws SQLException {
		Temporal time;
		try {
			time = row.getObject(at, type);
		}
		catch (SQLException | DateTimeException ex) {
			this.json.writeText(row.getString(at));
			return;
		}
		if (time != null && (time.equals(OffsetDateTime.MAX) || time.equals(OffsetDateTime.MIN)
				|| time.equals(LocalDateTime.MAX) || time.equals(LocalDateTime.MIN) || time.equals(LocalDate.MAX)
				|| time.equals(LocalDate.MIN))) {
			this.json.writeText(row.getString(at));
			return;
		}
		writeTime(time);
	}

	/** A type of the database alone, such as an enum, an interval or a list. */
	private void writeOther(ResultSet row, int at) throws SQLException {
		Object value = row.getObject(at);
		if (value instanceof Number || value instanceof Boolean || value instanceof Array || value instanceof List<?>
				|| value instanceof byte[] || value instanceof Struct || value instanceof Map<?, ?>) {
			writeObject(value);
		}
		else {
			this.json.writeText((value != null) ? row.getString(at) : null);
		}
	}

	private void writeObject(@Nullable Object value) throws SQLException {
		if (value == null) {
			this.json.writeNull();
		}
		else if (value instanceof Double || value instanceof Float) {
			writeFloat((Number) value);
		}
		else if (value instanceof BigDecimal number) {
			writeNumber(number);
		}
		else if (value instanceof Number || value instanceof Boolean) {
			this.json.writeLiteral(value.toString());
		}
		else if (value instanceof byte[] bytes) {
			writeBytes(bytes);
		}
		else if (value instanceof Array array) {
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
		else if (value instanceof Blob blob) {
			writeBytes(blob.getBytes(1, (int) blob.length()));
		}
		else if (value instanceof java.sql.Timestamp time) {
			writeTime(time.toLocalDateTime());
		}
		else if (value instanceof java.sql.Date date) {
			writeTime(date.toLocalDate());
		}
		else if (value instanceof java.sql.Time time) {
			writeTime(time.toLocalTime());
		}
		else if (value instanceof LocalDate || value instanceof LocalDateTime || value instanceof LocalTime
				|| value instanceof OffsetDateTime || value instanceof Instant) {
			writeTime(value);
		}
		else {
			this.json.writeText(value.toString());
		}
	}

	private void writeArray(@Nullable Array array) throws SQLException {
		if (array == null) {
			this.json.writeNull();
			return;
		}
		if (array.getClass().getName().startsWith("org.postgresql.") && BY_COLUMN.contains(array.getBaseTypeName())) {
			writeColumn(array);
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
	private void writeColumn(Array array) throws SQLException {
		byte before = '[';
		try (ResultSet elements = array.getResultSet()) {
			ResultSetMetaData columns = elements.getMetaData();
			Column column = new Column(2, new byte[0], columns.getColumnType(2), typeName(columns, 2));
			while (elements.next()) {
				this.json.append(before);
				write(elements, 2, column);
				before = ',';
			}
		}
		if (before == '[') {
			this.json.append((byte) '[');
		}
		this.json.append((byte) ']');
	}

	private void writeElements(List<? extends @Nullable Object> elements) throws SQLException {
		byte before = '[';
		for (Object element : elements) {
			this.json.append(before);
			writeObject(element);
			before = ',';
		}
		if (elements.isEmpty()) {
			this.json.append((byte) '[');
		}
		this.json.append((byte) ']');
	}

	private void writeMembers(Map<?, ?> members) throws SQLException {
		byte before = '{';
		for (Map.Entry<?, ?> member : members.entrySet()) {
			this.json.append(before);
			this.json.writeText(String.valueOf(member.getKey()));
			this.json.append((byte) ':');
			writeObject(member.getValue());
			before = ',';
		}
		if (members.isEmpty()) {
			this.json.append((byte) '{');
		}
		this.json.append((byte) '}');
	}

	/** DuckDB's structs have names, which JDBC does not know of. */
	private void writeStruct(Struct struct) throws SQLException {
		try {
			writeObject(struct.getClass().getMethod("getMap").invoke(struct));
		}
		catch (ReflectiveOperationException ex) {
			writeElements(Arrays.asList(struct.getAttributes()));
		}
	}

	/**
	 * Times as the database writes them, which may be negative or of more than a day in
	 * MariaDB. They have seconds, which DuckDB leaves out if they are 0, and no zeros at
	 * the end of a fraction.
	 */
	private void writeTimeOfDay(@Nullable String time) {
		String text = (time != null) ? time.replaceFirst("^(\\d\\d:\\d\\d)(?!:)", "$1:00") : null;
		this.json.writeText(
				(text != null) ? text.replaceFirst("(\\.\\d*?)0+(?!\\d)", "$1").replaceFirst("\\.(?!\\d)", "") : null);
	}

	private void writeNumber(@Nullable BigDecimal number) {
		this.json.writeLiteral((number != null) ? number.toPlainString() : null);
	}

	/** A number without a fraction is written without one; NaN is a text. */
	private void writeFloat(Number number) {
		double value = number.doubleValue();
		if (Double.isNaN(value) || Double.isInfinite(value)) {
			this.json.writeText(number.toString());
		}
		else if (value == Math.rint(value) && Math.abs(value) < 1e15) {
			this.json.writeLiteral(Long.toString((long) value));
		}
		else {
			this.json.writeLiteral(number.toString());
		}
	}

	private void writeTime(@Nullable Object time) {
		if (time instanceof LocalDateTime local) {
			this.json.writeText(DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(local));
		}
		else if (time instanceof OffsetDateTime offset) {
			this.json
				.writeText(DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(offset.withOffsetSameInstant(ZoneOffset.UTC)));
		}
		else if (time instanceof OffsetTime offset) {
			this.json.writeText(DateTimeFormatter.ISO_OFFSET_TIME.format(offset.withOffsetSameInstant(ZoneOffset.UTC)));
		}
		else if (time instanceof LocalTime local) {
			this.json.writeText(DateTimeFormatter.ISO_LOCAL_TIME.format(local));
		}
		else {
			this.json.writeText((time != null) ? time.toString() : null);
		}
	}

	private void writeBytes(byte @Nullable [] value) {
		if (value == null) {
			this.json.writeNull();
		}
		else {
			this.json.writeString((this.whole) ? Base64.getEncoder().encode(value) : value);
		}
	}

	/** A column, with the beginning of its member. */
	private static final class Column {

		/** Its number in the row, from 1. */
		private final int number;

		private final byte[] prefix;

		private final int type;

		private final String typeName;

		Column(int number, byte[] prefix, int type, String typeName) {
			this.number = number;
			this.prefix = prefix;
			this.type = type;
			this.typeName = typeName;
		}

	}

}
