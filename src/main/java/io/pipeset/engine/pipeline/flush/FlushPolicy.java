package io.pipeset.engine.pipeline.flush;

import com.fasterxml.jackson.annotation.JsonValue;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnection.PipeliningFlushPolicy;

/**
 * Defines when a job's commands are written to the socket, like Spring Data Redis's
 * policies of the same names. The number of commands in a slab implements the policy,
 * because a full slab is one Lettuce command, one write and one flush.
 */
public sealed interface FlushPolicy {

	/** The policies that a setting accepts. */
	String ALLOWED = "each, close or buffered:N with N from 1 to 100000";

	/** Writes after each command. */
	static FlushPolicy each() {
		return new Each();
	}

	/** Writes when the batch is complete. */
	static FlushPolicy close() {
		return new Close();
	}

	/**
	 * Writes after every N commands.
	 * @param commands N, 1 to 100,000
	 */
	static FlushPolicy buffered(int commands) {
		return new Buffered(commands);
	}

	/**
	 * Parses the value of a setting.
	 * @param policy for instance {@code buffered:500}
	 * @return the policy, or {@code null} if the text is not one of {@link #ALLOWED}
	 */
	static @Nullable FlushPolicy parse(String policy) {
		if (policy.equals("each")) {
			return each();
		}
		if (policy.equals("close")) {
			return close();
		}
		if (policy.matches("buffered:[1-9][0-9]{0,5}")) {
			int commands = Integer.parseInt(policy.substring("buffered:".length()));
			return (commands <= 100_000) ? buffered(commands) : null;
		}
		return null;
	}

	/**
	 * The maximum number of commands in one write.
	 * @return 1 or more, at most the batch size
	 */
	int commandsPerWrite(int batchSize);

	/**
	 * The policy without its number, for tags of meters.
	 * @return each, close or buffered
	 */
	String kind();

	/** Spring's equivalent policy, which opens and closes the pipeline. */
	PipeliningFlushPolicy toSpring();

	/** Writes after each command. */
	record Each() implements FlushPolicy {

		@Override
		public int commandsPerWrite(int batchSize) {
			return 1;
		}

		@Override
		public String kind() {
			return "each";
		}

		@Override
		public PipeliningFlushPolicy toSpring() {
			return PipeliningFlushPolicy.flushEachCommand();
		}

		@JsonValue
		@Override
		public String toString() {
			return kind();
		}

	}

	/** Writes when the batch is complete. */
	record Close() implements FlushPolicy {

		@Override
		public int commandsPerWrite(int batchSize) {
			return batchSize;
		}

		@Override
		public String kind() {
			return "close";
		}

		@Override
		public PipeliningFlushPolicy toSpring() {
			return PipeliningFlushPolicy.flushOnClose();
		}

		@JsonValue
		@Override
		public String toString() {
			return kind();
		}

	}

	/**
	 * Writes after every N commands.
	 *
	 * @param commands N, 1 to 100,000
	 */
	record Buffered(int commands) implements FlushPolicy {

		@Override
		public int commandsPerWrite(int batchSize) {
			return Math.min(this.commands, batchSize);
		}

		@Override
		public String kind() {
			return "buffered";
		}

		@Override
		public PipeliningFlushPolicy toSpring() {
			return PipeliningFlushPolicy.buffered(this.commands);
		}

		@JsonValue
		@Override
		public String toString() {
			return "buffered:" + this.commands;
		}

	}

}
