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
 * The templates of a job, which make a record of each row or object. The names in all of
 * them are numbered once, so that a row needs to look up none.
 */
public final class Templates {

	/** A name, with its places in tables, in the query and in the report. */
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
	 * The names in all templates, by their number.
	 * @return each name once
	 */
	public List<String> names() {
		return this.names;
	}

	/** Whether each value of a row is a field of its record. */
	public boolean takesAll() {
		return this.operation == Operation.HSET && this.fields == null;
	}

	/**
	 * The arguments of a record whose values are all there.
	 * @return how many; 0 where the record has what its row has
	 */
	public int mostArguments() {
		int fields = (this.fields != null) ? 2 * this.fields.length : 0;
		return (takesAll()) ? 0 : ((this.key != null) ? 1 : 0) + this.arguments.length + fields;
	}

	/**
	 * The setting that names a value, for messages.
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

	/** The templates as they were written. */
	public Texts texts() {
		return this.texts;
	}

	/** The memory that they take, in bytes. */
	long bytes() {
		long bytes = bytes(this.names) + 2L * mostArguments();
		for (Part part : parts()) {
			bytes += part.bytes();
		}
		return bytes;
	}

	/** The memory that a list of names takes for a job, in bytes. */
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
	 * Templates by the settings that they are given in.
	 *
	 * @param key the record's key; {@code null} for an operation whose keys stand among
	 * its arguments
	 * @param value the value of SET, and of no other operation
	 * @param fields the fields of HSET; {@code null} for all that a row has
	 * @param args the arguments of an operation other than SET and HSET, in their order
	 * @param ttl the time to live, or {@code null}
	 * @param expireAt the moment of expiry, or {@code null}
	 * @param id the name in the report, or {@code null}
	 */
	public record Texts(@Nullable Template key, @Nullable Template value, @Nullable List<String> fields,
			List<Template> args, @Nullable Template ttl, @Nullable Template expireAt, @Nullable Template id) {

	}

	/** A template whose names are numbers. */
	static final class Part {

		/** The size up to which an argument is prepared. */
		private static final int PREPARED_BYTES = 512;

		/** A template, with its text in the query and in the report. */
		private static final int TEMPLATE_BYTES = 400;

		/** One of its names, with the text behind it. */
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
			// A value that stands alone is not copied.
			this.prepared = (beginning && literals[0].length > 0) ? Arrays.copyOf(literals[0], PREPARED_BYTES)
					: new byte[0];
			this.onlyName = (beginning) ? slots[0] : -1;
		}

		/** The setting that it is given in. */
		String setting() {
			return this.setting;
		}

		/** The bytes around the names, one more than there are names. */
		byte[][] literals() {
			return this.literals;
		}

		/** The numbers of the names. */
		int[] slots() {
			return this.slots;
		}

		/**
		 * The number of the name, if the template is a name with perhaps a text before
		 * it; -1 for one of another form.
		 */
		int onlyName() {
			return this.onlyName;
		}

		/**
		 * An array that begins with the text before the only name, and has room for a
		 * short value behind it: most keys are made of these two.
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
