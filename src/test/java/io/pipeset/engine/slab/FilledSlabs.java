package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Script;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Makes slabs for tests from commands in plain text, and answers them with RESP. The
 * records of one instance have the indexes 0, 1, 2 and so on, as in a job.
 */
public final class FilledSlabs {

	/** The reply of a SET that ran. */
	public static final String OK = "+OK\r\n";

	/** The reply to a command of a transaction. */
	public static final String QUEUED = "+QUEUED\r\n";

	static final Script SCRIPT = Script.of("return 1".getBytes(StandardCharsets.UTF_8));

	public static final String SHA = SCRIPT.sha();

	private final Record record = new Record();

	/**
	 * A slab whose commands run one by one.
	 * @param commands for instance {@code SET key value}
	 * @return the slab
	 */
	public Slab slab(String... commands) {
		return fill(new Slab(), false, commands);
	}

	/**
	 * A slab whose commands run as one transaction.
	 * @param commands for instance {@code SET key value}
	 * @return the slab
	 */
	public Slab transaction(String... commands) {
		return fill(new Slab(), true, commands);
	}

	/** Fills a used slab again. */
	Slab fill(Slab slab, boolean atomic, String... commands) {
		return fill(slab, atomic, true, commands);
	}

	/** Fills a slab again, with or without a list of replies. */
	Slab fill(Slab slab, boolean atomic, boolean captureAll, String... commands) {
		slab.clear(captureAll, atomic);
		return add(slab, commands);
	}

	/** Adds commands to a slab. */
	Slab add(Slab slab, String... commands) {
		for (String command : commands) {
			String[] words = command.split(" ", -1);
			this.record.begin(0);
			this.record.id("id-" + this.record.index());
			this.record.operation(Objects.requireNonNull(Operation.find(words[0])));
			for (int i = 1; i < words.length; i++) {
				byte[] argument = words[i].getBytes(StandardCharsets.UTF_8);
				this.record.argument(argument, 0, argument.length);
			}
			this.record.check();
			assertThat(this.record.rejection()).isNull();
			if (command.contains(SHA)) {
				this.record.script(SCRIPT);
			}
			assertThat(slab.add(this.record)).isTrue();
		}
		return slab;
	}

	/**
	 * Writes a slab, and gives it replies. The replies may be too few for all commands.
	 * @param slab a filled slab
	 * @param replies RESP
	 * @return the same slab
	 */
	public static Slab written(Slab slab, String replies) {
		slab.attempt().writeTo(Unpooled.buffer());
		slab.attempt().read(Unpooled.copiedBuffer(replies, StandardCharsets.UTF_8));
		return slab;
	}

	/** A slab whose replies are not listed. */
	Slab unlisted(String... records) {
		return fill(new Slab(), false, false, records);
	}

	/** The commands that a slab writes with coalescing, separated by commas. */
	static String coalesced(Slab slab, Coalescing allowed) {
		slab.coalesce(allowed);
		return next(slab);
	}

	/** The commands that a slab's next attempt writes, separated by commas. */
	public static String next(Slab slab) {
		ByteBuf out = Unpooled.buffer();
		slab.attempt().writeTo(out);
		assertThat(slab.attempt().bytes()).isEqualTo(out.readableBytes());
		return String.join(",", commands(out.toString(StandardCharsets.UTF_8)));
	}

	/** The records of a slab in plain text. */
	static List<String> commands(Slab slab) {
		ByteBuf out = Unpooled.buffer();
		slab.commands().writeTo(out, new CoalescedCommands(slab.commands()), slab.count(), false);
		return commands(out.toString(StandardCharsets.UTF_8));
	}

	/** Commands in plain text, from RESP. */
	static List<String> commands(String resp) {
		List<String> commands = new ArrayList<>();
		resp.lines().forEach((line) -> {
			if (line.startsWith("*")) {
				commands.add("");
			}
			else if (!line.startsWith("$")) {
				commands.add((commands.remove(commands.size() - 1) + " " + line).strip());
			}
		});
		return commands;
	}

}
