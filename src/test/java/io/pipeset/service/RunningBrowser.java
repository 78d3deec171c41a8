package io.pipeset.service;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Executable;
import java.util.Arrays;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands the one browser of the process to each test whose method or constructor asks for
 * it. The first starts it, and each finds a new page in it. A test fails if its pages
 * broke a rule of their policy, or did not deal with an error. Where there is no browser
 * these tests are skipped, unless {@code PIPESET_TEST_BROWSER=required}.
 */
public final class RunningBrowser implements ExecutionCondition, ParameterResolver, AfterEachCallback {

	private static final Logger logger = LoggerFactory.getLogger(RunningBrowser.class);

	private static final ConditionEvaluationResult ENABLED = ConditionEvaluationResult.enabled("");

	private static final String MISSING = "there is no chromium, or no chromedriver, on this machine";

	public RunningBrowser() {
	}

	@Override
	public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
		if (context.getElement().filter(RunningBrowser::asks).isEmpty() || Browser.isThere()) {
			return ENABLED;
		}
		if ("required".equals(System.getenv("PIPESET_TEST_BROWSER"))) {
			throw new IllegalStateException("PIPESET_TEST_BROWSER=required, and " + MISSING);
		}
		logger.warn("{} is skipped: {}", context.getDisplayName(), MISSING);
		return ConditionEvaluationResult.disabled(MISSING);
	}

	/**
	 * Whether a test class has a constructor with a browser, or a test is a method with
	 * one.
	 */
	private static boolean asks(AnnotatedElement element) {
		return ((element instanceof Class<?> type) ? Stream.<Executable>of(type.getDeclaredConstructors())
				: Stream.of((Executable) element))
			.flatMap((executable) -> Arrays.stream(executable.getParameterTypes()))
			.anyMatch(Browser.class::equals);
	}

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return parameter.getParameter().getType() == Browser.class;
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		return Running.browser;
	}

	@Override
	public void afterEach(ExtensionContext context) {
		if (asks(context.getRequiredTestMethod()) || asks(context.getRequiredTestClass())) {
			try {
				Running.browser.assertQuiet();
			}
			finally {
				Running.browser.renew();
			}
		}
	}

	/** No store of JUnit's: Surefire runs each class by itself, and closes them all. */
	private static final class Running {

		static final Browser browser = Browser.start();

		static {
			Runtime.getRuntime().addShutdownHook(new Thread(browser::close, "browser-end"));
		}

	}

}
