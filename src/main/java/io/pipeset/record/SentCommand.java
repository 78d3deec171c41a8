package io.pipeset.record;

import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The command that a record is sent as: its operation with its arguments, or a script if
 * the operation alone cannot do all that the record asks for.
 */
public abstract sealed class SentCommand permits Record {

	private static final byte[] ONE = { '1' };

	private final Arguments arguments;

	private @Nullable Operation command;

	private Effect effect = Effect.ONCE;

	private @Nullable Script script;

	SentCommand(MemoryReservation room) {
		this.arguments = new Arguments(room);
	}

	/** Forgets the last record's command. */
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

	/** Sets the effect that the record's options ask for. */
	void effect(Effect effect) {
		this.effect = effect;
	}

	/**
	 * The caller does not want the values that the record takes out of Redis: its reply
	 * tells only whether there were any.
	 */
	public void forgoValues() {
		if (this.effect == Effect.POP) {
			this.effect = Effect.CONDITIONAL;
		}
	}

	/** Names the script that the record runs. */
	public void script(Script script) {
		this.script = script;
	}

	/** Sends a script for the first argument, a key, instead of the operation. */
	void byScript(Script script) {
		this.arguments.insert(0, script.shaBytes(), 0, script.shaBytes().length);
		this.arguments.insert(1, ONE, 0, ONE.length);
		this.command = Operation.EVALSHA;
		this.script = script;
	}

	/**
	 * The command's row in the table of operations.
	 * @return the row by which the arguments are to be read
	 * @throws IllegalStateException for a record that names no operation, which is a
	 * rejected one
	 */
	public Operation command() {
		if (this.command == null) {
			throw new IllegalStateException("the record has no operation");
		}
		return this.command;
	}

	/**
	 * The effect of running the record.
	 * @return its operation's effect, or the one its options ask for once it is checked
	 */
	public Effect effect() {
		return this.effect;
	}

	/**
	 * The script that has to be loaded before the record can run.
	 * @return the script, or {@code null} for a record that runs none, or one that is not
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
	 * An argument's first byte in its {@link #source(int) source}.
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
	 * An argument as a whole number, as strictly as Redis reads one.
	 * @param argument its position, from 0
	 * @return the number, 0 to {@link Long#MAX_VALUE}, or -1 if it is none
	 */
	public long number(int argument) {
		return this.arguments.number(argument);
	}

	/** An argument as a message shows it. */
	String excerpt(int argument) {
		return this.arguments.excerpt(argument);
	}

	/**
	 * The number of keys among the arguments, which begin with
	 * {@link Operation#firstKey()} and are {@link Operation#keyStep()} apart.
	 * @return 0 or more; 0 only for a script that names none, and so may use any
	 */
	public int keyCount() {
		int first = command().firstKey();
		long counted = (first > 0 && first <= argumentCount()) ? number(first - 1) : 0;
		return command().keyCount(argumentCount(), counted);
	}

	/**
	 * The hash of the first key, by which a record finds its lane.
	 * @return any int; the same for the same bytes
	 */
	public int keyHash() {
		return this.arguments.hash(command().firstKey());
	}

	/**
	 * The hash of a key.
	 * @param key its place among the keys, from 0
	 * @return any int; the same for the same bytes
	 */
	public int keyHash(int key) {
		return this.arguments.hash(command().firstKey() + key * command().keyStep());
	}

	/**
	 * The slot of Redis Cluster that all keys are in.
	 * @return a slot, or {@link Slots#NONE} where there are no keys, or
	 * {@link Slots#SEVERAL}
	 */
	public int slot() {
		int keys = keyCount();
		int first = command().firstKey();
		int slot = (keys > 0) ? slot(first) : Slots.NONE;
		for (int key = 1; key < keys; key++) {
			if (slot(first + key * command().keyStep()) != slot) {
				return Slots.SEVERAL;
			}
		}
		return slot;
	}

	private int slot(int key) {
		return Slots.of(source(key), offset(key), length(key));
	}

	/** The position that the first key has, if there is one. */
	int firstKey() {
		return (this.command != null) ? this.command.firstKey() : 0;
	}

	Arguments arguments() {
		return this.arguments;
	}

}
