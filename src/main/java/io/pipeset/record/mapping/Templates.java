package io.pipeset.record.mapping;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.pipeset.record.Operation;
import org.jspecify.annotations.Nullable;

/**
 * The templates of a job, which build a record from each row or object. They number their
 * names once, so that a row needs no lookup by name.
 */
public final class Templates {

	/**
	 * The memory of a name in tables, in the query and in the report, without its
	 * characters, in bytes.
	 */
	private static final int NAME_BYTES = 200;

	private final Operation operation;

	private final @Nullable Part key;

	private final @Nullable Part id;

	private final @Nullable Part ttl;

	private final @Nullable Part expireAt;

	/** SET's value, or the arguments of an operation other than SET and HSET. */
	private final Part[] arguments;

	private final int @Nullable [] fields;

	private final List<String> names = new ArrayList<>();

	private final Map<String, Integer> slots = new HashMap<>();

	private final Texts texts;

	public Templates(Operation operation, Texts texts) {
		this.operation = operation;
		this.texts = texts;
		this.id = part("id", texts.id());
		this.key = part("key", texts.key());
		this.ttl = part("ttl", texts.ttl());
		this.expireAt = part("expireAt", texts.expireAt());
		this.arguments = Stream
			.concat(Stream.ofNullable(part("value", texts.value())),
					texts.args().stream().map((template) -> part("args", template)))
			.toArray(Part[]::new);
		List<String> named = texts.fields();
		this.fields = (named != null) ? named.stream().mapToInt(this::slot).toArray() : null;
	}

	private @Nullable Part part(String setting, @Nullable Template template) {
		return (template != null)
				? new Part(setting, template.literals(), template.names().stream().mapToInt(this::slot).toArray())
				: null;
	}

	private int slot(String name) {
		Integer known = this.slots.putIfAbsent(name, this.names.size());
		if (known == null) {
			this.names.add(name);
		}
		return (known != null) ? known : this.names.size() - 1;
	}

	/**
	 * The names in all templates, in the order of their numbers.
	 * @return each name once
	 */
	public List<String> names() {
		return this.names;
	}

	/** Whether all values of a row become fields of its record. */
	public boolean mapsAllValues() {
		return this.operation == Operation.HSET && this.fields == null;
	}

	/**
	 * The number of arguments of a record if the row has all its values.
	 * @return the number; 0 if it depends on the row
	 */
	public int maxArguments() {
		int fields = (this.fields != null) ? 2 * this.fields.length : 0;
		return (mapsAllValues()) ? 0 : ((this.key != null) ? 1 : 0) + this.arguments.length + fields;
	}

	/**
	 * The setting that uses a name, for messages.
	 * @return the first such setting
	 */
	public String settingOf(String name) {
		int slot = this.names.indexOf(name);
		return parts().stream().filter((part) -> part.has(slot)).map(Part::setting).findFirst().orElse("fields");
	}

	private List<Part> parts() {
		List<Part> parts = new ArrayList<>();
		for (Part part : new Part[] { this.key, this.id, this.ttl, this.expireAt }) {
			if (part != null) {
				parts.add(part);
			}
		}
		parts.addAll(Arrays.asList(this.arguments));
		return parts;
	}

	/** The templates in their original form. */
	public Texts texts() {
		return this.texts;
	}

	/** The memory that the templates need, in bytes. */
	long bytes() {
		long bytes = bytes(this.names) + 2L * maxArguments();
		for (Part part : parts()) {
			bytes += part.bytes();
		}
		return bytes;
	}

	/** The memory that a list of names needs in a job, in bytes. */
	static long bytes(List<String> names) {
		return names.stream().mapToLong((name) -> NAME_BYTES + 2L * name.length()).sum();
	}

	Operation operation() {
		return this.operation;
	}

	@Nullable Part key() {
		return this.key;
	}

	@Nullable Part id() {
		return this.id;
	}

	@Nullable Part ttl() {
		return this.ttl;
	}

	@Nullable Part expireAt() {
		return this.expireAt;
	}

	Part[] arguments() {
		return this.arguments;
	}

	int @Nullable [] fields() {
		return this.fields;
	}

	/**
	 * The templates of a job by their settings.
	 *
	 * @param key the record's key; {@code null} for an operation whose keys are among its
	 * arguments
	 * @param value the value of SET; {@code null} for other operations
	 * @param fields the fields of HSET; {@code null} for all values of a row
	 * @param args the arguments, in order, of an operation other than SET and HSET
	 * @param ttl the time to live, or {@code null}
	 * @param expireAt the moment of expiry, or {@code null}
	 * @param id the record's id in the report, or {@code null}
	 */
	public record Texts(@Nullable Template key, @Nullable Template value, @Nullable List<String> fields,
			List<Template> args, @Nullable Template ttl, @Nullable Template expireAt, @Nullable Template id) {

	}

	/** A template whose names are replaced by their numbers. */
	static final class Part {

		/** The size of the array for prepared arguments, in bytes. */
		private static final int PREPARED_BYTES = 512;

		/**
		 * The memory of a template, with its text in the query and in the report, in
		 * bytes.
		 */
		private static final int TEMPLATE_BYTES = 400;

		/** The memory of one of its names, with the text after it, in bytes. */
		private static final int SLOT_BYTES = 100;

		private final String setting;

		private final byte[][] literals;

		private final int[] slots;

		private final int onlyName;

		private final byte[] prepared;

		private Part(String setting, byte[][] literals, int[] slots) {
			this.setting = setting;
			this.literals = literals;
			this.slots = slots;
			boolean beginning = slots.length == 1 && literals[1].length == 0 && literals[0].length < PREPARED_BYTES;
			// A value without text before it is not copied.
			this.prepared = (beginning && literals[0].length > 0) ? Arrays.copyOf(literals[0], PREPARED_BYTES)
					: new byte[0];
			this.onlyName = (beginning) ? slots[0] : -1;
		}

		/** The setting that contains the template. */
		String setting() {
			return this.setting;
		}

		/** The texts before, between and after the names. */
		byte[][] literals() {
			return this.literals;
		}

		/** The numbers of the names. */
		int[] slots() {
			return this.slots;
		}

		/**
		 * The number of the name if the template is a single name, with or without text
		 * before it; otherwise -1.
		 */
		int onlyName() {
			return this.onlyName;
		}

		/**
		 * An array that begins with the text before the only name, and can take a short
		 * value after it. Most keys consist of these two parts.
		 */
		byte[] prepared() {
			return this.prepared;
		}

		private long bytes() {
			return TEMPLATE_BYTES + (long) SLOT_BYTES * this.slots.length + this.prepared.length
					+ 4 * Arrays.stream(this.literals).mapToLong((literal) -> literal.length).sum();
		}

		private boolean has(int slot) {
			return Arrays.stream(this.slots).anyMatch((used) -> used == slot);
		}

	}

}
