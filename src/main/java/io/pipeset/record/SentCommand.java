package io.pipeset.record;

import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The command that is sent for a record: its operation with its arguments, or a script if
 * no command of Redis can do all that the record requires.
 */
public abstract sealed class SentCommand permits Record {

	private static final byte[] ONE = { '1' };

	/** More arguments than any record has. */
	private static final int MOST_ARGUMENTS = 1 << 24;

	private final Arguments arguments;

	private @Nullable Operation command;

	private Effect effect = Effect.ONCE;

	private @Nullable Script script;

	SentCommand(MemoryReservation memory) {
		this.arguments = new Arguments(memory);
	}

	/** Clears the command of the previous record. */
	void clear() {
		this.command = null;
		this.effect = Effect.ONCE;
		this.script = null;
		this.arguments.clear();
	}

	void command(Operation command) {
		this.command = command;
		this.effect = command.effect();
	}

	/** Sets the effect that the record's options require. */
	void effect(Effect effect) {
		this.effect = effect;
	}

	/**
	 * Marks a pop whose values the caller does not want: its reply only shows whether
	 * there were any.
	 */
	public void forgoValues() {
		if (this.effect == Effect.POP) {
			this.effect = Effect.CONDITIONAL;
		}
		else if (this.effect == Effect.DESCRIBED) {
			this.effect = Effect.DESCRIBED_UNLISTED;
		}
	}

	/** Sets the script that the record runs. */
	public void script(Script script) {
		this.script = script;
	}

	/** Turns the record into a script call. The script's key is the first argument. */
	void runAsScript(Script script) {
		this.arguments.insert(0, script.shaBytes(), 0, script.shaBytes().length);
		this.arguments.insert(1, ONE, 0, ONE.length);
		this.command = Operation.EVALSHA;
		this.script = script;
	}

	/**
	 * The operation that is sent; EVALSHA for a script.
	 * @return the row that describes the arguments
	 * @throws IllegalStateException if the record names no operation; then it is refused
	 */
	public Operation command() {
		if (this.command == null) {
			throw new IllegalStateException("the record has no operation");
		}
		return this.command;
	}

	/**
	 * The effect of running the record.
	 * @return the operation's effect; after the check, the effect with its options
	 */
	public Effect effect() {
		return this.effect;
	}

	/**
	 * The script that has to be loaded before the record runs.
	 * @return the script, or {@code null} if the record runs none, or one that is not
	 * known here
	 */
	public @Nullable Script script() {
		return this.script;
	}

	/** The number of arguments after the command's name. */
	public int argumentCount() {
		return this.arguments.count();
	}

	/**
	 * The array that holds an argument's bytes.
	 * @param argument its position, from 0
	 * @return the array; not to be modified
	 */
	public byte[] source(int argument) {
		return this.arguments.source(argument);
	}

	/**
	 * The index of an argument's first byte in its {@link #source(int) source}.
	 * @param argument its position, from 0
	 */
	public int offset(int argument) {
		return this.arguments.offset(argument);
	}

	/**
	 * An argument's length.
	 * @param argument its position, from 0
	 * @return the length in bytes
	 */
	public int length(int argument) {
		return this.arguments.length(argument);
	}

	/**
	 * An argument as text.
	 * @param argument its position, from 0
	 * @return the text, with U+FFFD for bytes that are not UTF-8
	 */
	public String text(int argument) {
		return this.arguments.text(argument);
	}

	/**
	 * An argument as an integer, by the strict rules of Redis.
	 * @param argument its position, from 0
	 * @return the number, 0 to {@link Long#MAX_VALUE}, or -1 if it is not one
	 */
	public long number(int argument) {
		return this.arguments.number(argument);
	}

	/** An argument, shortened for a message. */
	String excerpt(int argument) {
		return this.arguments.excerpt(argument);
	}

	/**
	 * The number of keys among the arguments. They are at {@link Operation#keyPosition}.
	 * @return 0 or more; 0 only for a script without keys, which may touch any key
	 */
	public int keyCount() {
		return keyCount(argumentCount());
	}

	private int keyCount(int arguments) {
		int counter = command().keyCounter();
		long counted = (counter >= 0 && counter < argumentCount()) ? number(counter) : 0;
		return command().keyCount(arguments, counted);
	}

	/**
	 * Whether an argument that is added at a position is a key.
	 * @param position its position, from 0; not all arguments after it need be known
	 */
	public boolean hasKeyAt(int position) {
		return command().isKey(position, keyCount(MOST_ARGUMENTS));
	}

	/**
	 * The hash of the first key, which selects the record's lane.
	 * @return any int; the same for the same bytes
	 */
	public int keyHash() {
		return this.arguments.hash(command().firstKey());
	}

	/**
	 * The hash of a key.
	 * @param key its position among the keys, from 0
	 * @return any int; the same for the same bytes
	 */
	public int keyHash(int key) {
		return this.arguments.hash(command().keyPosition(key));
	}

	/**
	 * The Redis Cluster slot of all keys.
	 * @return a slot; {@link Slots#NONE} if there are no keys; {@link Slots#SEVERAL} if
	 * the keys are in several slots
	 */
	public int slot() {
		int keys = keyCount();
		int slot = (keys > 0) ? slot(command().firstKey()) : Slots.NONE;
		for (int key = 1; key < keys; key++) {
			if (slot(command().keyPosition(key)) != slot) {
				return Slots.SEVERAL;
			}
		}
		return slot;
	}

	private int slot(int key) {
		return Slots.of(source(key), offset(key), length(key));
	}

	/** The position of the first key, if there is one. */
	int firstKey() {
		return (this.command != null) ? this.command.firstKey() : 0;
	}

	Arguments arguments() {
		return this.arguments;
	}

}
