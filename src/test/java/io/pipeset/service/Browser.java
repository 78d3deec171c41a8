package io.pipeset.service;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.logging.Level;
import java.util.stream.Stream;

import javax.imageio.ImageIO;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.JavascriptException;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.support.ui.Select;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Chromium without a window, of which each test process has one, and each test a page
 * that knows nothing of the pages before. The machine has Chromium or has not: nothing is
 * ever downloaded.
 */
public final class Browser implements AutoCloseable {

	private static final List<String> BROWSERS = List.of("chromium", "chromium-browser", "google-chrome");

	/**
	 * Debian's Chromium without what only windows need, by which the tests take a fifth
	 * less time. The script of this name hands no signal on to it, and it would never
	 * end.
	 */
	private static final Path WITHOUT_WINDOWS = Path.of("/usr/lib/chromium/chromium-headless-shell");

	/** A browser takes many times as long where other processes have the processors. */
	private static final Duration PATIENCE = Duration.ofMinutes(2);

	/** The folder in which tests put pictures of the pages; none by default. */
	private static final String PICTURES = "console.pictures";

	/** The script that looks for barriers. */
	private static final String AXE = axe();

	/** The text of the page that can be seen. */
	private static final String TEXT = "document.body.innerText.replace(/[ \\t\\r\\n]*\\n/g, '\\n').replaceAll('\\t', ' ')";

	private static final String SELECTED = "document.querySelectorAll(arguments[0])";

	private static final String LABELLED = """
			[...document.querySelectorAll('button, a, summary')].filter((element) =>
				element.textContent.trim().replace(/[ \\t\\r\\n]+/g, ' ') === arguments[0])""";

	/** The first of some elements that can be seen. */
	private static final String ELEMENT = """
			[...%s].find((element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
				&& element.getBoundingClientRect().width > 0 && element.getBoundingClientRect().height > 0)""";

	/**
	 * Clicks an element that nothing covers, in the middle of its first line. The page
	 * does so itself: a mouse is eight calls, and may miss what has moved meanwhile.
	 */
	private static final String CLICKED = """
			((element) => {
				const [{ left, top, width, height }] = element?.getClientRects() ?? [{}];
				const at = { clientX: left + width / 2, clientY: top + height / 2 };
				if (!element || element.matches(':disabled')) {
					return false;
				}
				if (!element.contains(document.elementFromPoint(at.clientX, at.clientY))) {
					element.scrollIntoView({ block: 'center' });
					return false;
				}
				element.focus();
				element.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, composed: true, detail: 1, view: window, ...at }));
				return true;
			})(%s)""";

	/** How many texts the page says, up to the first that it does not. */
	private static final String SAID = """
			((text) => {
				const missing = [...arguments].findIndex((part) => !text.includes(part));
				return ((missing < 0) ? arguments.length : missing) || null;
			})(%s)""".formatted(TEXT);

	/** Whether a field has the focus, and all of its text is selected. */
	private static final String TAKEN = """
			((field) => field && (field.focus(), field.select(), document.activeElement === field))(%s)""";

	/**
	 * The page itself looks, and calls are few. A call ends soon, for no page may outlive
	 * it.
	 */
	private static final String WAIT = """
			return new Promise((resolve) => {
				const end = performance.now() + 500;
				const look = () => {
					const found = %s;
					if (found || performance.now() > end) {
						resolve(found);
					}
					else {
						setTimeout(look, 10);
					}
				};
				look();
			})""";

	/**
	 * Has pages look again, and come back to a service, five times as often: no test asks
	 * how long they pause.
	 */
	private static final String HASTE = """
			{
				const real = setTimeout;
				window.setTimeout = (action, millis = 0, ...rest) =>
					real(action, (millis >= 200 && millis <= 3000) ? millis / 5 : millis, ...rest);
			}""";

	private static final int ANY_PACE = -1;

	private static final String ORIGIN = "http://localhost:%d";

	private final ChromeDriver driver;

	/** The window that stays, whatever others a test opens. */
	private final String first;

	private final Path downloads;

	private boolean hampered;

	private boolean dark;

	private boolean phone;

	/** The services that pages have come from since they were new. */
	private final Set<String> origins = new HashSet<>();

	private Browser(ChromeDriver driver, Path downloads) {
		this.driver = driver;
		this.first = driver.getWindowHandle();
		this.downloads = downloads;
		hasten();
	}

	private void hasten() {
		this.driver.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", HASTE));
	}

	/** Whether this machine has a browser, and the program that drives it. */
	static boolean isThere() {
		return browser().isPresent() && driver().isPresent();
	}

	static Browser start() {
		Path downloads;
		try {
			downloads = Files.createTempDirectory("downloads");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Path browser = browser().orElseThrow();
		ChromeOptions options = new ChromeOptions();
		options.setBinary(browser.toFile());
		options.addArguments("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--lang=en",
				"--hide-scrollbars", "--window-size=1200," + ((browser.equals(WITHOUT_WINDOWS)) ? 757 : 900));
		// Without a process for each site, and without services that no page needs.
		options.addArguments("--disable-site-isolation-trials", "--disable-software-rasterizer", "--disable-extensions",
				"--disable-background-networking", "--disable-component-update", "--disable-sync");
		// Or else one without windows writes a log into the folder of its program.
		options.setExperimentalOption("excludeSwitches", List.of("enable-logging"));
		options.setExperimentalOption("prefs", Map.of("download.default_directory", downloads.toString()));
		LoggingPreferences log = new LoggingPreferences();
		log.enable(LogType.BROWSER, Level.ALL);
		options.setCapability(ChromeOptions.LOGGING_PREFS, log);
		options.setScriptTimeout(PATIENCE);
		ChromeDriverService service = new ChromeDriverService.Builder()
			.usingDriverExecutable(driver().orElseThrow().toFile())
			.usingAnyFreePort()
			.withTimeout(Duration.ofMinutes(1))
			.withLogOutput(OutputStream.nullOutputStream())
			.build();
		return new Browser(new ChromeDriver(service, options), downloads);
	}

	private static Optional<Path> browser() {
		Optional<Path> browser = BROWSERS.stream().flatMap(Browser::find).findFirst();
		return browser
			.map((path) -> (path.endsWith("chromium") && Files.isExecutable(WITHOUT_WINDOWS)) ? WITHOUT_WINDOWS : path);
	}

	private static Optional<Path> driver() {
		return find("chromedriver").findFirst();
	}

	private static Stream<Path> find(String program) {
		return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
			.map((folder) -> Path.of(folder, program))
			.filter(Files::isExecutable);
	}

	private static String axe() {
		try (InputStream script = Browser.class.getResourceAsStream("/axe.min.js")) {
			return new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Closes all pages, and opens an empty one as it is in a browser that was just
	 * started.
	 */
	void renew() {
		cutOff(false);
		dark(false);
		phone(false);
		Set<String> windows = this.driver.getWindowHandles();
		for (String window : windows) {
			if (!window.equals(this.first)) {
				this.driver.switchTo().window(window);
				this.driver.close();
			}
		}
		this.driver.switchTo().window(this.first);
		leave();
		this.driver.executeCdpCommand("Page.resetNavigationHistory", Map.of());
		this.origins.forEach((origin) -> this.driver.executeCdpCommand("Storage.clearDataForOrigin",
				Map.of("origin", origin, "storageTypes", "cookies,local_storage,indexeddb,cache_storage")));
		this.origins.clear();
		// Lines of a test that has failed.
		this.driver.manage().logs().get(LogType.BROWSER);
		files().forEach((file) -> file.toFile().delete());
	}

	/** The files that pages have saved. */
	private List<Path> files() {
		try (Stream<Path> files = Files.list(this.downloads)) {
			return files.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Opens a page, as in a tab that knows nothing of others. */
	public void visit(Service service, String page) {
		leave();
		URI console = service.uri("/console");
		this.origins.add(ORIGIN.formatted(console.getPort()));
		this.driver.get(ORIGIN.formatted(console.getPort()) + console.getPath() + page);
	}

	/** Goes to another place of the page that is there, as its links do. */
	public void go(String hash) {
		run("location.hash = '" + hash + "'");
	}

	/** Goes to an empty page; the one before keeps nothing. */
	private void leave() {
		if ((Boolean) run("return location.protocol === 'http:' && (sessionStorage.clear(), true)")) {
			this.driver.get("about:blank");
		}
	}

	/**
	 * Opens a further window, and looks at it from now on.
	 * @return the window
	 */
	public String open() {
		this.driver.switchTo().newWindow(WindowType.WINDOW);
		hasten();
		return window();
	}

	/** The window that is looked at. */
	public String window() {
		return this.driver.getWindowHandle();
	}

	/** Looks at another window from now on. */
	public void look(String window) {
		this.driver.switchTo().window(window);
	}

	/** Waits until an element is there and can be seen. */
	public WebElement await(String css) {
		return (WebElement) until(ELEMENT.formatted(SELECTED), css);
	}

	/** Waits until a button, a link or a summary with this text can be seen. */
	public WebElement awaitText(String text) {
		return (WebElement) until(ELEMENT.formatted(LABELLED), text);
	}

	/** Clicks an element as soon as it can be seen, and nothing covers it. */
	public void click(String css) {
		until(CLICKED.formatted(ELEMENT.formatted(SELECTED)), css);
	}

	/** Clicks a button, a link or a summary with this text. */
	public void clickText(String text) {
		until(CLICKED.formatted(ELEMENT.formatted(LABELLED)), text);
	}

	/** Waits until the page says something, and then what follows. */
	public void awaitSaid(String... parts) {
		List<String> missing = List.of(parts);
		while (!missing.isEmpty()) {
			Long said = (Long) until(SAID, missing.toArray());
			missing = missing.subList(said.intValue(), missing.size());
		}
	}

	/** Waits until the page says something no more. */
	public void awaitUnsaid(String part) {
		until("!" + TEXT + ".includes(arguments[0])", part);
	}

	/**
	 * Waits until an expression is true of the page.
	 * @return what it is
	 */
	public Object until(String expression, Object... arguments) {
		try {
			return Awaitility.await()
				.atMost(PATIENCE)
				// The page was left, or loaded anew.
				.ignoreException(JavascriptException.class)
				.ignoreException(StaleElementReferenceException.class)
				.until(() -> this.driver.executeScript(WAIT.formatted(expression), arguments),
						(found) -> found != null && !Boolean.FALSE.equals(found));
		}
		catch (ConditionTimeoutException ex) {
			throw new AssertionError("There is no " + expression + " of " + List.of(arguments) + " in\n" + text(), ex);
		}
	}

	/** The text of the page that can be seen. */
	public String text() {
		return String.valueOf(run("return " + TEXT));
	}

	public List<WebElement> all(String css) {
		return this.driver.findElements(By.cssSelector(css));
	}

	/**
	 * Puts a text into a field in place of its own, at once, as one pastes it: each key
	 * would be three calls, and the page would draw anew.
	 */
	public void type(String css, String text) {
		until(TAKEN.formatted(ELEMENT.formatted(SELECTED)), css);
		this.driver.executeCdpCommand("Input.insertText", Map.of("text", text));
	}

	/** Chooses a file, as the dialog of the browser would. */
	public void choose(Path file) {
		until("Boolean(document.querySelector('#file'))");
		this.driver.findElement(By.id("file")).sendKeys(file.toAbsolutePath().toString());
	}

	public void choose(String css, String option) {
		new Select(await(css)).selectByValue(option);
	}

	public Object run(String script) {
		return ((JavascriptExecutor) this.driver).executeScript(script);
	}

	/** Cuts the browser off the service, or lets it reach it again. */
	public void cutOff(boolean off) {
		if (off) {
			hamper(true, ANY_PACE);
		}
		else if (this.hampered) {
			hamper(false, ANY_PACE);
			// Or else each request is told of.
			this.driver.executeCdpCommand("Network.disable", Map.of());
			this.hampered = false;
		}
	}

	/** Lets uploads go no faster, until the browser is {@link #cutOff} no more. */
	public void slow(int bytesPerSecond) {
		hamper(false, bytesPerSecond);
	}

	private void hamper(boolean off, int bytesPerSecond) {
		this.hampered = true;
		this.driver.executeCdpCommand("Network.enable", Map.of());
		this.driver.executeCdpCommand("Network.emulateNetworkConditions", Map.of("offline", off, "latency", 0,
				"downloadThroughput", ANY_PACE, "uploadThroughput", bytesPerSecond));
	}

	/** Waits for a file that the page saves. */
	public String download() {
		Path[] file = new Path[1];
		Awaitility.await().atMost(PATIENCE).until(() -> {
			file[0] = files().stream().filter((name) -> name.toString().endsWith(".ndjson")).findFirst().orElse(null);
			return file[0] != null;
		});
		return Shell.text(file[0]);
	}

	/** Fails if a page broke a rule of its policy, or an error was not dealt with. */
	public void assertQuiet() {
		assertThat(this.driver.manage().logs().get(LogType.BROWSER).getAll())
			.filteredOn((entry) -> !entry.getMessage().contains("Failed to load resource"))
			.as("lines in the log of the browser")
			.isEmpty();
	}

	/**
	 * Fails if the log of the browser has any line, even one of a request that was
	 * refused.
	 */
	public void assertSilent() {
		assertThat(this.driver.manage().logs().get(LogType.BROWSER).getAll()).as("lines in the log of the browser")
			.isEmpty();
	}

	/** The colour of a pixel of the window, as RGB. */
	public int pixel(long x, long y) {
		try {
			return ImageIO.read(new ByteArrayInputStream(this.driver.getScreenshotAs(OutputType.BYTES)))
				.getRGB((int) x, (int) y) & 0xFFFFFF;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Keeps a picture of the page in a window of a size, if somebody wants pictures. */
	public void picture(String name, int width, int height) {
		if (System.getProperty(PICTURES) != null) {
			Dimension before = this.driver.manage().window().getSize();
			// A window with a frame has less room for its page.
			long frame = (Long) run("return outerHeight - innerHeight");
			this.driver.manage().window().setSize(new Dimension(width, height + (int) frame));
			picture(name);
			this.driver.manage().window().setSize(before);
		}
	}

	/** Keeps a picture of the page, if somebody wants pictures. */
	public void picture(String name) {
		String folder = System.getProperty(PICTURES);
		if (folder != null) {
			run("document.activeElement.blur(); scrollTo(0, 0)");
			try {
				Files.createDirectories(Path.of(folder));
				Files.write(Path.of(folder, name + ".png"), this.driver.getScreenshotAs(OutputType.BYTES));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	/**
	 * Asks <a href="https://github.com/dequelabs/axe-core">axe</a> for what keeps people
	 * from using the page, in the light, and by the rules of colours in the dark as well:
	 * no other rule knows of colours.
	 * @return the serious and critical findings, each with its places
	 */
	public List<?> barriers() {
		if (!(Boolean) run("return 'axe' in window")) {
			run(AXE);
		}
		List<Object> found = new ArrayList<>(barriers(""));
		dark(true);
		found.addAll(barriers("runOnly: ['color-contrast', 'link-in-text-block'], "));
		dark(false);
		return found;
	}

	private List<?> barriers(String options) {
		return (List<?>) run("""
				return axe.run({ %sresultTypes: ['violations'] }).then(({ violations }) => violations
					.filter(({ impact }) => impact === 'serious' || impact === 'critical')
					.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.html + ' '
						+ node.any.map(({ message }) => message)).join('; ')))""".formatted(options));
	}

	/** How many pixels of the page are beside the window. */
	public long overflow() {
		return (Long) run("return document.documentElement.scrollWidth - innerWidth");
	}

	/** Gives the page the width of a telephone, or that of a desk again. */
	public void phone(boolean small) {
		if (this.phone == small) {
			return;
		}
		this.phone = small;
		if (small) {
			this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
					Map.of("width", 360, "height", 780, "deviceScaleFactor", 1, "mobile", true));
		}
		else {
			this.driver.executeCdpCommand("Emulation.clearDeviceMetricsOverride", Map.of());
		}
	}

	/** Shows pages in the dark, or in the light again. */
	public void dark(boolean dark) {
		if (this.dark == dark) {
			return;
		}
		this.dark = dark;
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("features",
				List.of(Map.of("name", "prefers-color-scheme", "value", (dark) ? "dark" : "light"))));
	}

	@Override
	public void close() {
		this.driver.quit();
		files().forEach((file) -> file.toFile().delete());
		this.downloads.toFile().delete();
	}

}
