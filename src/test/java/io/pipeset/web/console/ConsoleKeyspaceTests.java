package io.pipeset.web.console;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Shell;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The page Keyspace of the console, in a browser, with a real Redis behind it. */
@ServiceTest
class ConsoleKeyspaceTests {

	/** Keys as services leave them behind; the largest prefix is {@code session:}. */
	private static final String KEYS = """
			for i = 1, 3000 do redis.call('SET', 'session:' .. i, string.rep('s', 200 + i % 50), 'EX', 600 + i * 40) end
			for i = 1, 1200 do redis.call('HSET', 'user:' .. (i % 400) .. ':' .. ({'cart', 'seen', 'profile'})[i % 3 + 1], 'name', 'Ada', 'n', i) end
			for i = 1, 300 do redis.call('RPUSH', 'queue:' .. i, string.rep('q', 40), i) end
			for i = 1, 40 do redis.call('ZADD', 'rank:' .. i, 1, 'a', 2, 'b') end
			for i = 1, 700 do redis.call('SET', 'cache:' .. i, string.rep('c', 90)) if i % 3 > 0 then redis.call('EXPIRE', 'cache:' .. i, 90000) end end
			for i = 1, 60 do redis.call('SADD', 'product:' .. i .. ':tags', 'new', 'blue') end
			for i = 1, 5000 do redis.call('RPUSH', 'log', 'line ' .. i) end
			""";

	@TempDir
	private static Path folder;

	private static Browser browser;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ConsoleKeyspaceTests(Service service) {
		this.service = service;
	}

	@BeforeAll
	static void openBrowser() throws IOException {
		browser = Browser.open(Files.createDirectory(folder.resolve("downloads")));
	}

	@AfterAll
	static void closeBrowser() {
		if (browser != null) {
			browser.close();
		}
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@AfterEach
	void nothingBreaksThePolicyOfThePages() {
		browser.assertQuiet();
	}

	@Test
	void theLargestPrefixIsFoundCountedAndDeletedAndTheRestStays() {
		script(KEYS);
		browser.visit(this.service, "");
		browser.awaitText("Keyspace").click();
		browser.awaitSaid("Begin with an analysis of all keys");
		browser.picture("console-keyspace-empty", 1200, 460);
		browser.await("#analyse").click();
		browser.awaitSaid("6 prefixes", "session:", "3,000", "log");
		browser.picture("console-keyspace", 1200, 1020);
		assertThat(firstRow()).startsWith("session:");
		browser.await("a.block").click();
		browser.awaitSaid("session:", "Count its keys");
		browser.await("#count").click();
		browser.awaitSaid("3,000 keys match session:*");
		browser.await("#unlink").click();
		browser.awaitSaid("Type session: to confirm");
		WebElement go = browser.await("#sweep");
		assertThat(go.isEnabled()).isFalse();
		browser.type("#field-sweep-name", "session");
		assertThat(go.isEnabled()).isFalse();
		browser.await("#field-sweep-name").sendKeys(Keys.ENTER);
		browser.type("#field-sweep-name", "session:");
		browser.picture("console-keyspace-delete", 1200, 680);
		assertThat(this.redis.dbsize()).isEqualTo(3000 + 1200 + 300 + 40 + 700 + 60 + 1);
		go.click();
		browser.awaitSaid("UNLINK job", "All 3,000 records ran.");
		assertThat(this.redis.dbsize()).isEqualTo(1200 + 300 + 40 + 700 + 60 + 1);
		browser.run("history.back()");
		browser.awaitSaid("Since then: UNLINK of session:*");
		browser.await("#again").click();
		browser.awaitSaid("5 prefixes");
		assertThat(browser.text()).doesNotContain("session:");
	}

	@Test
	void onesWayGoesDownFromPrefixToPrefixAndUpAgain() {
		script(KEYS);
		browser.visit(this.service, "/#/keyspace");
		browser.await("#analyse").click();
		browser.awaitText("user:").click();
		browser.awaitSaid("All keys", "user:", "1,200", "Analyse this prefix");
		browser.await("#deeper").click();
		browser.awaitSaid("400 prefixes", "Keys like user:*", "The 250 smallest are drawn as one");
		assertThat(browser.all(".block")).hasSize(151);
		browser.awaitText("Prefix").click();
		browser.awaitText("17:").click();
		browser.awaitSaid("All keys\nuser:\n17:", "Analyse this prefix");
		browser.await("#deeper").click();
		browser.awaitSaid("no further prefix", "user:17:cart", "Size of a key");
		browser.awaitText("user:").click();
		browser.awaitSaid("400 prefixes");
		browser.awaitText("All keys").click();
		browser.awaitSaid("6 prefixes");
		browser.run("history.back()");
		browser.awaitSaid("400 prefixes");
	}

	@Test
	void anAnalysisOfSomeDepthIsGoneThroughWithoutAnotherOne() {
		script(KEYS);
		browser.visit(this.service, "/#/keyspace");
		browser.type("#field-depth", "2");
		browser.type("#field-match", "[up]*");
		browser.await("#analyse").click();
		browser.awaitSaid("2 prefixes", "Keys like [up]*");
		int jobs = jobs();
		browser.awaitText("product:").click();
		browser.awaitSaid("60 prefixes", "The analysis has looked at keys like [up]* only");
		browser.awaitText("Prefix").click();
		browser.awaitText("17:").click();
		browser.awaitSaid("All keys\nproduct:\n17:");
		browser.run("location.reload()");
		browser.awaitSaid("All keys\nproduct:\n17:");
		assertThat(jobs()).isEqualTo(jobs);
	}

	private int jobs() {
		return this.service.get("/v1/jobs?limit=1000").json().get("jobs").size();
	}

	@Test
	void keysExpireAfterTheirPrefixIsTyped() {
		script(KEYS);
		browser.visit(this.service, "/#/keyspace");
		browser.await("#analyse").click();
		browser.awaitText("cache:").click();
		browser.await("#count").click();
		browser.await("#expire").click();
		browser.type("#field-sweep-ttl", "soon");
		browser.type("#field-sweep-name", "cache:");
		browser.await("#sweep").click();
		browser.awaitSaid("'ttl' must be");
		browser.type("#field-sweep-ttl", "2h");
		browser.type("#field-sweep-ttlJitter", "10");
		browser.await("#sweep").click();
		browser.awaitSaid("EXPIRE job", "All 700 records ran.");
		assertThat(this.redis.ttl("cache:3")).isBetween(6400L, 7920L);
		assertThat(this.redis.ttl("user:3:cart")).isEqualTo(-1);
	}

	@Test
	void aPrefixIsItselfWhateverItsCharactersMean() throws Exception {
		String glob = "a[bc]*?\\d^-]:";
		List<String> others = List.of("abxyd^-]:1", "ab*?\\d^-]:1", "a[bc]XX?\\d^-]:1", "a[bc]*Z\\d^-]:1",
				"a[bc]*?d^-]:1");
		List<String> prefixes = List.of(glob, "<img src=x onerror=alert(1)>:", "Größe über 'alles' & \"mehr\":",
				" blank  :", "{tag}$HOME`x`!%41:", "line\nbreak\ttab:", "\u202eright\u200bto\u0000left:", "u\u0308 🧺:",
				"(none)🧺", "__proto__:");
		Stream.concat(prefixes.stream().flatMap((prefix) -> Stream.of(prefix + "1", prefix + "2")), others.stream())
			.forEach((key) -> this.redis.set(key, "x"));
		script("redis.call('SET', '\\255\\254:1', 'x')");
		browser.visit(this.service, "/#/keyspace");
		browser.await("#analyse").click();
		browser.awaitSaid("15 prefixes", "a[bc]*?\\d^-]:", "<img src=x onerror=alert(1)>:",
				"Größe über 'alles' & \"mehr\":", "\" blank  :\"", "\"line\\nbreak\\ttab:\"",
				"\"\\u{202e}right\\u{200b}to\\u{0}left:\"", "\"\\xff\\xfe:\"");
		Shell shell = new Shell(folder, this.service.port());
		for (String prefix : prefixes) {
			if (prefix.endsWith(":")) {
				open(prefix);
				browser.await("#count").click();
				browser.awaitSaid("2 keys match ");
				assertThat(String.valueOf(browser.run("return document.body.textContent"))).as(prefix)
					.doesNotContain("\u202e", "\u200b");
				assertThat(shell.run(countLine() + " | jq .wouldRun")).as(prefix).isEqualTo("2\n");
				browser.run("history.back()");
				browser.awaitSaid("15 prefixes");
			}
		}
		browser.awaitText("\"\\xff\\xfe:\"").click();
		browser.awaitSaid("Its name is not UTF-8");
		assertThat(browser.all("#count")).isEmpty();
		browser.run("history.back()");
		browser.awaitSaid("15 prefixes");
		long before = this.redis.dbsize();
		open(glob);
		browser.await("#count").click();
		browser.await("#unlink").click();
		browser.type("#field-sweep-name", glob);
		browser.await("#sweep").click();
		browser.awaitSaid("All 2 records ran.");
		assertThat(this.redis.exists(others.toArray(String[]::new))).isEqualTo(others.size());
		assertThat(this.redis.dbsize()).isEqualTo(before - 2);
	}

	/** Follows the link of a prefix by what it is, and not by how it reads. */
	private void open(String prefix) {
		await().until(() -> Boolean.TRUE.equals(browser.run("""
				const isWanted = (link) => {
					try {
						return decodeURIComponent(link.hash.split('?at=')[1]) === %s;
					}
					catch {
						return false;
					}
				};
				const link = [...document.querySelectorAll('td a')].find(isWanted);
				link?.click();
				return Boolean(link)""".formatted(quoted(prefix)))));
	}

	private static String quoted(String text) {
		StringBuilder quoted = new StringBuilder("'");
		text.chars().forEach((c) -> quoted.append(String.format("\\u%04x", c)));
		return quoted.append('\'').toString();
	}

	/** The curl line of the count, as one would copy it. */
	private String countLine() {
		return String.valueOf(browser
			.run("return document.querySelector('#count').closest('div').querySelector('.curl code').textContent"));
	}

	@Test
	void tenThousandPrefixesAreBoundedInThePictureAndWholeInTheTable() {
		script("for i = 1, 10000 do redis.call('SET', 'p' .. i .. ':x', string.rep('x', i % 100)) end");
		browser.visit(this.service, "/#/keyspace");
		browser.await("#analyse").click();
		browser.awaitSaid("10,000 prefixes", "The 9,850 smallest are drawn as one; the table has each of them.");
		assertThat(browser.all(".block")).hasSize(151);
		assertThat(browser.all("tbody tr[aria-rowindex]")).hasSizeLessThan(150);
		browser.awaitText("Prefix").click();
		await().until(() -> firstRow().startsWith("p1:"));
		browser.awaitText("Prefix").click();
		await().until(() -> firstRow().startsWith("p10000:"));
		assertThat(browser.await("th[aria-sort=descending]").getText()).startsWith("Prefix");
	}

	private static String firstRow() {
		return browser.await("[aria-rowindex='2']").getText();
	}

	@Test
	void anAnalysisThatRunsIsFollowedAndCancelled() {
		script(KEYS);
		browser.visit(this.service, "/#/keyspace");
		browser.awaitText("Settings").click();
		browser.type("#field-rateLimit", "30");
		browser.type("#field-top", "1001");
		browser.awaitText("Settings").click();
		browser.await("#analyse").click();
		assertThat(browser.await("#field-top").isDisplayed()).isTrue();
		browser.type("#field-top", "3");
		browser.await("#analyse").click();
		browser.awaitSaid("keys ·", "/s ·");
		browser.cutOff(true);
		try {
			browser.await("#cancel").click();
			browser.awaitSaid("The service does not answer.", "nobody knows whether it has done this");
		}
		finally {
			browser.cutOff(false);
		}
		await().until(() -> !browser.text().contains("The service does not answer."));
		browser.await("#cancel").click();
		browser.awaitSaid("cancelled", "These are the totals so far.", "never expire");
		browser.awaitText("Another analysis").click();
		browser.awaitSaid("Earlier analyses");
		assertThat(browser.await("#field-rateLimit").getDomProperty("value")).isEqualTo("30");
		browser.type("#field-separator", "x".repeat(1025));
		browser.await("#analyse").click();
		browser.awaitSaid("'separator' must be a text of 1 to 1024 bytes of UTF-8");
	}

	@Test
	void anAnalysisOfSomebodyElseAndOneWithoutMemoryAreShownAsWell() {
		script(KEYS);
		String id = this.service.post("/v1/analyses?memory=false&depth=2&match=%5Bpl%5D*")
			.json()
			.get("analysisId")
			.asString();
		browser.visit(this.service, "/#/jobs/" + id);
		browser.awaitText("Its prefixes, types and largest keys").click();
		browser.awaitSaid("Without memory: The call asked for no memory", "too few separators", "60 prefixes",
				"product:");
		assertThat(browser.text()).doesNotContain("Mean", "by memory");
		browser.visit(this.service, "/#/keyspace/01a20347-d60e-7396-9c73-7157c8413711");
		browser.awaitSaid("There is no job");
		browser.awaitText("Another analysis").click();
		this.redis.flushall();
		browser.await("#analyse").click();
		browser.awaitSaid("There is no such key.");
	}

	@Test
	void pagesAreForTelephonesTheDarkTheKeyboardAndScreenReaders() {
		script(KEYS);
		browser.phone(true);
		try {
			browser.visit(this.service, "/#/keyspace");
			browser.await("#analyse").sendKeys(Keys.ENTER);
			browser.awaitSaid("6 prefixes");
			assertThat(browser.overflow()).as("pixels of the page beyond the screen").isZero();
			browser.picture("console-keyspace-phone");
			browser.dark(true);
			browser.picture("console-keyspace-dark");
			browser.awaitText("The same with curl");
			assertThat(browser
				.run("""
						return [...document.querySelectorAll('button, a, input, select, textarea, summary, [tabindex="0"]')]
							.filter((control) => control.checkVisibility())
							.filter((control) => !(control.ariaLabel || control.textContent.trim() || control.labels?.length))
							.map((control) => control.outerHTML)"""))
				.as("controls without a name")
				.isEqualTo(List.of());
			assertThat(browser.all("a.block[tabindex='0']")).hasSize(1);
			WebElement first = browser.await("a.block[tabindex='0']");
			first.sendKeys(Keys.ARROW_RIGHT);
			WebElement second = browser.await("a.block[tabindex='0']");
			assertThat(second.getDomAttribute("aria-label")).startsWith("user:");
			second.sendKeys(Keys.ENTER);
			browser.awaitSaid("Count its keys");
			browser.await("#count").sendKeys(Keys.ENTER);
			browser.awaitSaid("1,200 keys match user:*");
			browser.await("#expire").sendKeys(Keys.ENTER);
			browser.awaitSaid("Type user: to confirm");
			assertThat(browser.run("return document.activeElement.id")).isEqualTo("field-sweep-name");
			assertThat(browser.overflow()).as("pixels of the page beyond the screen").isZero();
			browser.picture("console-keyspace-expire-dark");
			browser.await("#field-sweep-name").sendKeys(Keys.ESCAPE);
			await().until(() -> browser.all("dialog[open]").isEmpty());
		}
		finally {
			browser.dark(false);
			browser.phone(false);
		}
	}

	private void script(String lua) {
		this.redis.eval(lua, ScriptOutputType.STATUS);
	}

}
