package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.Value.Reading;
import org.jspecify.annotations.Nullable;

/** A value of templates, whose names are numbers. */
final class Slot {

	private static final byte[][] NO_STEPS = {};

	private final int number;

	private final Value value;

	private final String setting;

	private final int[] names;

	private final byte[][][] steps;

	private final @Nullable Form[] forms;

	private final List<byte @Nullable []> defaults = new ArrayList<>();

	/**
	 * A value.
	 * @param number its number among all values of the job
	 * @param names the number of the name of each reading
	 */
	Slot(int number, Value value, String setting, int[] names) {
		this.number = number;
		this.value = value;
		this.setting = setting;
		this.names = names;
		List<Reading> readings = value.readings();
		this.steps = readings.stream()
			.map((reading) -> (reading.steps().isEmpty()) ? NO_STEPS
					: reading.steps().stream().map(Slot::utf8).toArray(byte[][]::new))
			.toArray(byte[][][]::new);
		this.forms = readings.stream().map(Reading::form).toArray(Form[]::new);
		for (Reading reading : readings) {
			String otherwise = reading.otherwise();
			this.defaults.add((otherwise != null) ? utf8(otherwise) : null);
		}
	}

	private static byte[] utf8(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	int number() {
		return this.number;
	}

	/** The setting that it is given in. */
	String setting() {
		return this.setting;
	}

	/** How many readings there are. */
	int readings() {
		return this.names.length;
	}

	/** The number of the name of a reading. */
	int name(int reading) {
		return this.names[reading];
	}

	/** The steps of a reading into the value of its name. */
	byte[][] steps(int reading) {
		return this.steps[reading];
	}

	@Nullable Form form(int reading) {
		return this.forms[reading];
	}

	/** The default of a reading; {@code null} for none. */
	byte @Nullable [] otherwise(int reading) {
		return this.defaults.get(reading);
	}

	/** The name of a reading. */
	String nameText(int reading) {
		return this.value.readings().get(reading).name();
	}

	/** The name and the steps of a reading, for messages. */
	String pathText(int reading) {
		return Excerpt.of(path(reading));
	}

	/** The longest path that may be meant. */
	String fullPath() {
		return path(this.names.length - 1);
	}

	private String path(int reading) {
		Reading read = this.value.readings().get(reading);
		return (read.steps().isEmpty()) ? read.name() : read.name() + "." + String.join(".", read.steps());
	}

	/** The character between the elements of a text that is spread; empty for none. */
	String separator() {
		return this.value.separator();
	}

	/** The text between its braces. */
	String text() {
		return this.value.text();
	}

	/** Whether each element of it is a value of its own. */
	boolean isSpread() {
		return this.value.isSpread();
	}

	/** Whether a form makes another text of its text. */
	boolean isShaped() {
		Form form = this.forms[this.forms.length - 1];
		return form != null && (form.kind() == Form.Kind.JSON || form.kind() == Form.Kind.JOIN);
	}

	/** Whether a name may be the one that is meant. */
	boolean hasName(String name) {
		return this.value.readings().stream().anyMatch((reading) -> reading.name().equals(name));
	}

	/** What is wrong with it; {@code null} if nothing is. */
	@Nullable String problem() {
		return this.value.problem();
	}

	/** Whether it is a name and nothing else. */
	boolean isName() {
		return this.names.length == 1 && this.forms[0] == null;
	}

}
