package io.pipeset;

import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fails every test class during which an error or a stack trace is logged. A test that
 * provokes one says so beforehand. A line that a thread of an earlier class logs too late
 * fails the class that runs by then.
 */
public final class QuietLog implements AfterAllCallback {

	private static final Logger logger = LoggerFactory.getLogger(QuietLog.class);

	private static final Queue<String> complaints = new ConcurrentLinkedQueue<>();

	private static final Queue<String> heard = new ConcurrentLinkedQueue<>();

	private static final Set<String> expected = ConcurrentHashMap.newKeySet();

	static {
		Thread.setDefaultUncaughtExceptionHandler(
				(thread, ex) -> logger.error("{} ended with an exception", thread.getName(), ex));
	}

	/**
	 * Lets errors and stack traces pass, unprinted, until the test class ends.
	 * @param part of their message, or of their exception
	 */
	public static void expect(String part) {
		expected.add(part);
	}

	/**
	 * The expected messages that were logged during this test class.
	 * @return the messages
	 */
	public static List<String> heard() {
		return List.copyOf(heard);
	}

	@Override
	public void afterAll(ExtensionContext context) {
		List<String> all = List.copyOf(complaints);
		complaints.clear();
		heard.clear();
		expected.clear();
		if (!all.isEmpty()) {
			throw new AssertionError("Errors or stack traces were logged: " + String.join("\n", all));
		}
	}

	private static boolean isExpected(ILoggingEvent event) {
		String text = text(event);
		return isLoud(event) && expected.stream().anyMatch(text::contains);
	}

	private static boolean isLoud(ILoggingEvent event) {
		return event.getLevel().isGreaterOrEqual(Level.ERROR) || event.getThrowableProxy() != null;
	}

	private static String text(ILoggingEvent event) {
		return String
			.join(" ",
					Stream
						.of(event.getLevel(), event.getThreadName(), event.getLoggerName(), event.getFormattedMessage(),
								(event.getThrowableProxy() == null) ? ""
										: event.getThrowableProxy().getClassName() + ": "
												+ event.getThrowableProxy().getMessage())
						.map(Object::toString)
						.toList());
	}

	/** Collects errors and stack traces. */
	public static final class Complaints extends AppenderBase<ILoggingEvent> {

		@Override
		protected void append(ILoggingEvent event) {
			if (isLoud(event)) {
				((isExpected(event)) ? heard : complaints).add(text(event));
			}
		}

	}

	/** Keeps expected messages off the console. */
	public static final class Unexpected extends Filter<ILoggingEvent> {

		@Override
		public FilterReply decide(ILoggingEvent event) {
			return (isExpected(event)) ? FilterReply.DENY : FilterReply.NEUTRAL;
		}

	}

}
