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
import io.pipeset.record.grammar.JsonText;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Row;
import io.pipeset.record.mapping.State;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a query's row that templates name: numbers and booleans as JSON has
 * them, arrays and JSON as compact JSON, dates and times as texts of ISO 8601, bytes as
 * they are.
 */
final class SqlRow extends Row {

	/** Types whose texts are JSON: vectors of pgvector, and DuckDB's lists. */
	private static final Set<String> JSON = Set.of("json", "jsonb", "vector", "halfvec");

	/** Elements of PostgreSQL whose Java values differ from those of columns. */
	private static final Set<String> BY_COLUMN = Set.of("date", "timestamp", "timestamptz", "time", "timetz",
			"interval", "numeric", "json", "jsonb", "money", "bit");

	/** The whole row as JSON. */
	private static final int ALL = -1;

	/** The number of the row. */
	private static final int INDEX = -2;

	/** A name that no column has. */
	private static final int NOWHERE = -3;

	private final Column[] columns;

	/** The column of each name of templates, or what else it is. */
	private final int[] places;

	private final boolean needsWhole;

	private final ArgumentBytes values;

	private final JsonCursor cursor = new JsonCursor();

	/** The whole row, if a template has it. */
	private byte[] whole = {};

	private int wholeOffset;

	private int wholeLength;

	private byte[] index = {};

	/**
	 * Finds the names of templates among the columns.
	 * @param names the columns, by which {@link QueryRows} has checked the templates
	 */
	SqlRow(ResultSetMetaData metadata, List<String> names, Templates templates, Nulls nulls, RecordLimit limit)
			throws SQLException {
		super(templates, nulls, true, limit);
		this.values = new ArgumentBytes(limit.memory());
		this.places = templates.names().stream().mapToInt((name) -> place(name, names)).toArray();
		this.needsWhole = templates.needWhole();
		this.columns = new Column[names.size()];
		boolean all = templates.mapsAllValues();
		for (int i = 0; i < this.columns.length; i++) {
			int number = i;
			boolean needed = all || Arrays.stream(this.places).anyMatch((place) -> place == number);
			this.columns[i] = new Column(names.get(i), needed, metadata.getColumnType(i + 1),
					typeName(metadata, i + 1));
		}
	}

	private static int place(String name, List<String> names) {
		int column = place(names, name);
		return (name.equals(Template.WHOLE)) ? ALL
				: (column < 0 && name.equals(Template.INDEX)) ? INDEX : (column < 0) ? NOWHERE : column;
	}

	/** The column of a name or a number; -1 if there is none. */
	static int place(List<String> names, String name) {
		int named = names.indexOf(name);
		int number = (named < 0) ? Templates.columnNumber(name) : 0;
		return (number > 0 && number <= names.size()) ? number - 1 : named;
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
			if (column.needed) {
				this.values.begin();
				column.state = write(row, i + 1, column.type, column.typeName);
				column.source = this.values.bytes();
				column.offset = this.values.start();
				column.length = this.values.length();
			}
		}
		this.index = digits();
		if (this.needsWhole) {
			writeWhole(composed());
		}
	}

	/** Makes the next record of the row. A refused one has the row as JSON. */
	void deliver(Record record) {
		record.begin(0);
		fill(record, null);
		if (record.rejection() != null) {
			ArgumentBytes json = composed();
			writeWhole(json);
			record.copyRaw(json.bytes(), json.start(), json.start() + json.length());
		}
		record.row(number() + 1);
	}

	@Override
	protected State state(int name) {
		int place = this.places[name];
		return (place >= 0) ? this.columns[place].state
				: (place == ALL) ? State.COMPOSITE : (place == INDEX) ? State.SCALAR : State.ABSENT;
	}

	@Override
	protected byte[] source(int name) {
		int place = this.places[name];
		return (place >= 0) ? this.columns[place].source : (place == ALL) ? this.whole : this.index;
	}

	@Override
	protected int offset(int name) {
		int place = this.places[name];
		return (place >= 0) ? this.columns[place].offset : (place == ALL) ? this.wholeOffset : 0;
	}

	@Override
	protected int length(int name) {
		int place = this.places[name];
		return (place >= 0) ? this.columns[place].length : (place == ALL) ? this.wholeLength : this.index.length;
	}

	@Override
	protected boolean isObject() {
		return true;
	}

	@Override
	protected void members() {
		for (Column column : this.columns) {
			member(column.name, 0, column.name.length, column.state, column.source, column.offset, column.length);
		}
	}

	@Override
	protected String noun() {
		return "column";
	}

	@Override
	protected String emptiness() {
		return "null";
	}

	/** Makes the row an object of JSON, in which bytes are Base64. */
	private void writeWhole(ArgumentBytes json) {
		json.begin();
		char before = '{';
		for (Column column : this.columns) {
			if (column.needed) {
				json.append(before);
				JsonText.appendString(json, column.name, 0, column.name.length);
				json.append(':');
				switch (column.state) {
					case NULL, ABSENT -> json.append("null");
					case TEXT -> JsonText.appendString(json, column.source, column.offset, column.length);
					case BYTES -> JsonText.appendBase64(json, column.source, column.offset, column.length);
					default -> json.append(column.source, column.offset, column.length);
				}
				before = ',';
			}
		}
		json.append((before == '{') ? "{}" : "}");
		this.whole = json.bytes();
		this.wholeOffset = json.start();
		this.wholeLength = json.length();
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
				yield (row.wasNull()) ? State.NULL : writeScalar(String.valueOf(value));
			}
			case Types.TINYINT, Types.SMALLINT, Types.INTEGER, Types.BIGINT -> writeNumber(row.getBigDecimal(at));
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
		return (value == null || value instanceof Number || value instanceof Boolean || isComposite(value)
				|| value instanceof byte[]) ? writeObject(value) : writeText(row.getString(at));
	}

	private static boolean isComposite(Object value) {
		return value instanceof Array || value instanceof List<?> || value instanceof Object[]
				|| value instanceof Map<?, ?> || value instanceof Struct;
	}

	/** Writes a value of a column. */
	private State writeObject(@Nullable Object value) throws SQLException {
		if (value == null) {
			return State.NULL;
		}
		if (isComposite(value)) {
			appendElement(value);
			return State.COMPOSITE;
		}
		byte[] bytes = bytes(value);
		if (bytes != null) {
			this.values.append(bytes, 0, bytes.length);
			return State.BYTES;
		}
		String literal = literal(value);
		return (literal != null) ? writeScalar(literal) : writeText(text(value));
	}

	private static byte @Nullable [] bytes(Object value) throws SQLException {
		return (value instanceof byte[] bytes) ? bytes
				: (value instanceof Blob blob) ? blob.getBytes(1, (int) blob.length()) : null;
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

	private State writeScalar(String text) {
		this.values.append(text);
		return State.SCALAR;
	}

	private State writeText(@Nullable String text) {
		if (text == null) {
			return State.NULL;
		}
		this.values.append(text);
		return State.TEXT;
	}

	private State writeNumber(@Nullable BigDecimal number) {
		return (number != null) ? writeScalar(number.toPlainString()) : State.NULL;
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

	/** Appends a value as an element of JSON. */
	private void appendElement(@Nullable Object value) throws SQLException {
		if (value == null) {
			this.values.append("null");
			return;
		}
		byte[] bytes = bytes(value);
		String literal = literal(value);
		if (bytes != null) {
			JsonText.appendBase64(this.values, bytes, 0, bytes.length);
		}
		else if (literal != null) {
			this.values.append(literal);
		}
		else if (value instanceof Array array) {
			appendArray(array);
		}
		else if (value instanceof List<?> list) {
			appendElements(list);
		}
		else if (value instanceof Object[] array) {
			appendElements(Arrays.asList(array));
		}
		else if (value instanceof Map<?, ?> members) {
			appendMembers(members);
		}
		else if (value instanceof Struct struct) {
			appendStruct(struct);
		}
		else {
			appendText(text(value));
		}
	}

	private void appendText(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		JsonText.appendString(this.values, bytes, 0, bytes.length);
	}

	private void appendArray(Array array) throws SQLException {
		if (array.getClass().getName().startsWith("org.postgresql.") && BY_COLUMN.contains(array.getBaseTypeName())) {
			appendColumn(array);
			return;
		}
		Object elements = array.getArray();
		List<@Nullable Object> list = new ArrayList<>();
		for (int i = 0; i < java.lang.reflect.Array.getLength(elements); i++) {
			list.add(java.lang.reflect.Array.get(elements, i));
		}
		appendElements(list);
		array.free();
	}

	/** Appends the elements of an array as values of a column are written. */
	private void appendColumn(Array array) throws SQLException {
		char before = '[';
		try (ResultSet elements = array.getResultSet()) {
			ResultSetMetaData columns = elements.getMetaData();
			int type = columns.getColumnType(2);
			String typeName = typeName(columns, 2);
			while (elements.next()) {
				this.values.append(before);
				appendColumn(elements, type, typeName);
				before = ',';
			}
		}
		this.values.append((before == '[') ? "[]" : "]");
	}

	private void appendColumn(ResultSet elements, int type, String typeName) throws SQLException {
		int before = this.values.length();
		State state = write(elements, 2, type, typeName);
		if (state == State.NULL) {
			this.values.append("null");
		}
		else if (state == State.TEXT) {
			byte[] text = Arrays.copyOfRange(this.values.bytes(), this.values.start() + before,
					this.values.start() + this.values.length());
			this.values.cut(before);
			JsonText.appendString(this.values, text, 0, text.length);
		}
	}

	private void appendElements(List<? extends @Nullable Object> elements) throws SQLException {
		char before = '[';
		for (Object element : elements) {
			this.values.append(before);
			appendElement(element);
			before = ',';
		}
		this.values.append((before == '[') ? "[]" : "]");
	}

	private void appendMembers(Map<?, ?> members) throws SQLException {
		char before = '{';
		for (Map.Entry<?, ?> member : members.entrySet()) {
			this.values.append(before);
			appendText(String.valueOf(member.getKey()));
			this.values.append(':');
			appendElement(member.getValue());
			before = ',';
		}
		this.values.append((before == '{') ? "{}" : "}");
	}

	/** DuckDB's structs have names, which JDBC does not know of. */
	private void appendStruct(Struct struct) throws SQLException {
		try {
			appendElement(struct.getClass().getMethod("getMap").invoke(struct));
		}
		catch (ReflectiveOperationException ex) {
			appendElements(Arrays.asList(struct.getAttributes()));
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

		private final byte[] name;

		/** Whether a template needs it. Others are not read. */
		private final boolean needed;

		private final int type;

		private final String typeName;

		private State state = State.NULL;

		private byte[] source = {};

		private int offset;

		private int length;

		Column(String name, boolean needed, int type, String typeName) {
			this.name = name.getBytes(StandardCharsets.UTF_8);
			this.needed = needed;
			this.type = type;
			this.typeName = typeName;
		}

	}

}
