package io.pipeset.web.console;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.lettuce.core.ScriptOutputType;
import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Shell;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The page Keyspace of the console, in a browser and with a real Redis. */
@ServiceTest
class ConsoleKeyspaceTests extends ConsolePages {

	/** Keys such as services create them. The largest prefix is {@code session:}. */
	private static final String KEYS = """
			for i = 1, 3000 do redis.call('SET', 'session:' .. i, string.rep('s', 200 + i % 50), 'EX', 600 + i * 40) end
			for i = 1, 1200 do redis.call('HSET', 'user:' .. (i % 400) .. ':' .. ({'cart', 'seen', 'profile'})[i % 3 + 1], 'name', 'Ada', 'n', i) end
			for i = 1, 300 do redis.call('RPUSH', 'queue:' .. i, string.rep('q', 40), i) end
			for i = 1, 40 do redis.call('ZADD', 'rank:' .. i, 1, 'a', 2, 'b') end
			for i = 1, 700 do redis.call('SET', 'cache:' .. i, string.rep('c', 90)) if i % 3 > 0 then redis.call('EXPIRE', 'cache:' .. i, 90000) end end
			for i = 1, 60 do redis.call('SADD', 'product:' .. i .. ':tags', 'new', 'blue') end
			for i = 1, 5000 do redis.call('RPUSH', 'log', 'line ' .. i) end
			""";

	/** The colour of an element as three numbers from 0 to 255. */
	private static final String COLOUR = """
			const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
			const colourOf = (colour) => {
				canvas.fillStyle = colour;
				canvas.fillRect(0, 0, 1, 1);
				return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
			};
			const blocks = [...document.querySelectorAll('.block')];
			""";

	/** The least contrast of a name and its block, as WCAG computes it. */
	private static final String CONTRAST = COLOUR
			+ """
					const luminance = (colour) => colourOf(colour).map((part) => part / 255)
						.map((part) => (part <= 0.04045) ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
						.reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
					return Math.min(...blocks.filter((block) => block.querySelector('text')).map((block) => {
						const [darker, lighter] = ['rect', 'text'].map((part) => luminance(getComputedStyle(block.querySelector(part)).fill)).sort((one, other) => one - other);
						return (lighter + 0.05) / (darker + 0.05);
					})) + 1e-9""";

	/** The greatest chroma of a block, from 0 for grey. */
	private static final String SATURATION = COLOUR + """
			return Math.max(...blocks.map((block) => {
				const colour = colourOf(getComputedStyle(block.querySelector('rect')).fill);
				return (Math.max(...colour) - Math.min(...colour)) / 255;
			})) + 1e-9""";

	@TempDir
	private static Path folder;

	ConsoleKeyspaceTests(Service service, Browser browser) {
		super(service, browser);
	}

	@Test
	void theLargestPrefixIsFoundCountedAndDeletedAndTheRestStays() {
		script(KEYS);
		this.browser.visit(this.service, "");
		this.browser.clickText("Keyspace");
		this.browser.awaitSaid("Begin with an analysis of all keys");
		this.browser.picture("console-keyspace-empty", 1200, 460);
		this.browser.click("#analyse");
		this.browser.awaitSaid("6 prefixes", "session:", "3,000", "log");
		this.browser.picture("console-keyspace", 1200, 1020);
		assertThat(firstRow()).startsWith("session:");
		this.browser.click("a.block");
		this.browser.awaitSaid("session:", "Count its keys");
		this.browser.click("#count");
		this.browser.awaitSaid("3,000 keys match session:*");
		this.browser.click("#unlink");
		this.browser.awaitSaid("Delete 3,000 keys of session: from " + redisName() + "?", "Type session: to confirm");
		WebElement go = this.browser.await("#sweep");
		assertThat(go.isEnabled()).isFalse();
		this.browser.type("#field-sweep-name", "session");
		assertThat(go.isEnabled()).isFalse();
		this.browser.await("#field-sweep-name").sendKeys(Keys.ENTER);
		this.browser.type("#field-sweep-name", "session:");
		this.browser.picture("console-keyspace-delete", 1200, 680);
		assertThat(this.redis.dbsize()).isEqualTo(3000 + 1200 + 300 + 40 + 700 + 60 + 1);
		go.click();
		this.browser.awaitSaid("UNLINK job: session:*", "All 3,000 records ran.");
		assertThat(this.redis.dbsize()).isEqualTo(1200 + 300 + 40 + 700 + 60 + 1);
		this.browser.clickText("Back to the keyspace");
		this.browser.awaitSaid("Since then: UNLINK of session:*");
		this.browser.click("#again");
		this.browser.awaitSaid("5 prefixes");
		assertThat(this.browser.text()).doesNotContain("session:");
	}

	@Test
	void aUserGoesDownFromPrefixToPrefixAndUpAgain() {
		script(KEYS);
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.click("#analyse");
		this.browser.clickText("user:");
		this.browser.awaitSaid("All keys", "user:", "1,200", "Analyse this prefix");
		this.browser.click("#deeper");
		this.browser.awaitSaid("400 prefixes", "Keys like user:*", "The 250 smallest are drawn as one");
		assertThat(this.browser.all(".block")).hasSize(151);
		this.browser.clickText("Prefix");
		this.browser.clickText("17:");
		this.browser.awaitSaid("All keys\nuser:\n17:", "Analyse this prefix");
		this.browser.click("#deeper");
		this.browser.awaitSaid("no further prefix", "user:17:cart", "Size of a key");
		this.browser.clickText("user:");
		this.browser.awaitSaid("400 prefixes");
		this.browser.clickText("All keys");
		this.browser.awaitSaid("6 prefixes");
		this.browser.run("history.back()");
		this.browser.awaitSaid("400 prefixes");
	}

	@Test
	void aDeepAnalysisIsBrowsedWithoutAnotherOne() {
		script(KEYS);
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.type("#field-depth", "2");
		this.browser.type("#field-match", "[up]*");
		this.browser.click("#analyse");
		this.browser.awaitSaid("2 prefixes", "Keys like [up]*");
		int jobs = jobs();
		this.browser.clickText("product:");
		this.browser.awaitSaid("60 prefixes", "The analysis covers only keys like [up]*.");
		this.browser.clickText("Prefix");
		this.browser.clickText("17:");
		this.browser.awaitSaid("All keys\nproduct:\n17:");
		this.browser.run("location.reload()");
		this.browser.awaitSaid("All keys\nproduct:\n17:");
		assertThat(jobs()).isEqualTo(jobs);
	}

	private int jobs() {
		return this.service.get("/v1/jobs?limit=1000").json().get("jobs").size();
	}

	@Test
	void keysExpireAfterTheirPrefixIsTyped() {
		script(KEYS);
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.click("#analyse");
		this.browser.clickText("cache:");
		this.browser.click("#count");
		this.browser.click("#expire");
		this.browser.awaitSaid("Expire 700 keys of cache: in " + redisName() + "?");
		this.browser.type("#field-sweep-ttl", "soon");
		this.browser.type("#field-sweep-name", "cache:");
		this.browser.click("#sweep");
		this.browser.awaitSaid("'ttl' must be");
		this.browser.type("#field-sweep-ttl", "2h");
		this.browser.type("#field-sweep-ttlJitter", "10");
		this.browser.click("#sweep");
		this.browser.awaitSaid("EXPIRE job", "All 700 records ran.");
		assertThat(this.redis.ttl("cache:3")).isBetween(6400L, 7920L);
		assertThat(this.redis.ttl("user:3:cart")).isEqualTo(-1);
	}

	@Test
	void aLateAnswerDoesNotOpenALeftPageAndItsCountIsCancelled() {
		this.redis.set("a:1", "x");
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.run("""
				const real = fetch;
				window.calls = [];
				window.fetch = async (url, asked) => {
					calls.push(`${asked?.method} ${url}`);
					const answer = await real(url, asked);
					if (asked?.method === 'POST') {
						const body = await answer.json();
						await new Promise((resolve) => window.release = resolve);
						delete window.release;
						answer.json = async () => body;
					}
					return answer;
				}""");
		this.browser.click("#analyse");
		leaveAndAnswer();
		this.browser.clickText("Keyspace");
		this.browser.clickText("All keys");
		this.browser.clickText("a:");
		String prefix = String.valueOf(this.browser.run("return location.hash"));
		this.browser.click("#count");
		leaveAndAnswer();
		assertThat(this.browser.run("return calls.filter((call) => call.startsWith('DELETE')).length")).isEqualTo(1L);
		this.browser.go(prefix);
		this.browser.click("#count");
		answer();
		this.browser.click("#unlink");
		this.browser.type("#field-sweep-name", "a:");
		this.browser.click("#sweep");
		leaveAndAnswer();
	}

	/** Goes to another page before a call is answered, and checks that it stays there. */
	private void leaveAndAnswer() {
		awaitHeld();
		this.browser.go("#/jobs");
		this.browser.awaitSaid("State");
		answer();
		assertThat(this.browser.run("return location.hash")).isEqualTo("#/jobs");
	}

	/** Releases the answer to a call, and waits until the page has handled it. */
	private void answer() {
		awaitHeld();
		this.browser.run("release(); return new Promise((resolve) => setTimeout(resolve))");
	}

	private void awaitHeld() {
		this.browser.until("Boolean(window.release)");
	}

	@Test
	void aPrefixWithSpecialCharactersIsTakenLiterally() throws Exception {
		String glob = "a[bc]*?\\d^-]:";
		List<String> others = List.of("abxyd^-]:1", "ab*?\\d^-]:1", "a[bc]XX?\\d^-]:1", "a[bc]*Z\\d^-]:1",
				"a[bc]*?d^-]:1");
		List<String> prefixes = List.of(glob, "<img src=x onerror=alert(1)>:", "Größe über 'alles' & \"mehr\":",
				" blank  :", "{tag}$HOME`x`!%41:", "line\nbreak\ttab:", "\u202eright\u200bto\u0000left:", "u\u0308 🧺:",
				"(none)🧺", "__proto__:", "no\u00a0break:");
		Stream.concat(prefixes.stream().flatMap((prefix) -> Stream.of(prefix + "1", prefix + "2")), others.stream())
			.forEach((key) -> this.redis.set(key, "x"));
		script("redis.call('SET', '\\255\\254:1', 'x')");
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.click("#analyse");
		this.browser.awaitSaid("16 prefixes", "a[bc]*?\\d^-]:", "<img src=x onerror=alert(1)>:",
				"Größe über 'alles' & \"mehr\":", "\" blank  :\"", "\"line\\nbreak\\ttab:\"",
				"\"\\u{202e}right\\u{200b}to\\u{0}left:\"", "\"no\\u{a0}break:\"", "\"\\xff\\xfe:\"");
		Shell shell = new Shell(folder, this.service.port());
		for (String prefix : prefixes) {
			if (prefix.endsWith(":")) {
				open(prefix);
				this.browser.click("#count");
				this.browser.awaitSaid("2 keys match ");
				assertThat(String.valueOf(this.browser.run("return document.body.textContent"))).as(prefix)
					.doesNotContain("\u202e", "\u200b", "\u00a0");
				assertThat(shell.run(countLine() + " | jq .wouldRun")).as(prefix).isEqualTo("2\n");
				this.browser.run("history.back()");
				this.browser.awaitSaid("16 prefixes");
			}
		}
		this.browser.clickText("\"\\xff\\xfe:\"");
		this.browser.awaitSaid("Its name is not UTF-8");
		assertThat(this.browser.all("#count")).isEmpty();
		this.browser.run("history.back()");
		this.browser.awaitSaid("16 prefixes");
		long before = this.redis.dbsize();
		open(glob);
		this.browser.click("#count");
		this.browser.click("#unlink");
		this.browser.type("#field-sweep-name", glob);
		this.browser.click("#sweep");
		this.browser.awaitSaid("All 2 records ran.");
		assertThat(this.redis.exists(others.toArray(String[]::new))).isEqualTo(others.size());
		assertThat(this.redis.dbsize()).isEqualTo(before - 2);
	}

	/** Follows the link of a prefix. The link is found by its target, not by its text. */
	private void open(String prefix) {
		await().until(() -> Boolean.TRUE.equals(this.browser.run("""
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

	/** The curl line of the count, as a user would copy it. */
	private String countLine() {
		return String.valueOf(this.browser
			.run("return document.querySelector('#count').closest('div').querySelector('.curl code').textContent"));
	}

	@Test
	void thePictureShowsSomeOfManyPrefixesAndTheTableAll() {
		script("for i = 1, 10000 do redis.call('SET', 'p' .. i .. ':x', string.rep('x', i % 100)) end");
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.click("#analyse");
		this.browser.awaitSaid("10,000 prefixes",
				"The 9,850 smallest are drawn as one block. The table lists each of them.");
		assertThat(this.browser.all(".block")).hasSize(151);
		assertThat(this.browser.all("tbody tr[aria-rowindex]")).hasSizeLessThan(150);
		this.browser.clickText("Prefix");
		await().until(() -> firstRow().startsWith("p1:"));
		this.browser.clickText("Prefix");
		await().until(() -> firstRow().startsWith("p10000:"));
		assertThat(this.browser.await("th[aria-sort=descending]").getText()).startsWith("Prefix");
	}

	private String firstRow() {
		return this.browser.await("[aria-rowindex='2']").getText();
	}

	@Test
	void keysOfTheServiceAreLeftOutUnlessTheUserAsksForThem() {
		script("""
				redis.call('SET', 'a:1', 'x')
				redis.call('SET', 'pipeset:job:1', string.rep('x', 9000))
				redis.call('SET', 'pipeset:job:2', string.rep('x', 9000))
				""");
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.click("#analyse");
		this.browser.awaitSaid("Include 2 keys of the service itself (pipeset:*)", "1 prefix", "Largest keys", "a:1");
		assertThat(this.browser.text()).doesNotContain("pipeset:job", "2 prefixes");
		assertThat(this.browser.all("a.block")).hasSize(1);
		this.browser.click("#own");
		this.browser.awaitSaid("2 prefixes", "Largest keys", "pipeset:job:1");
		assertThat(this.browser.run("return document.activeElement.id")).isEqualTo("own");
		this.browser.click("#own");
		this.browser.awaitSaid("1 prefix");
		this.browser.awaitUnsaid("pipeset:job");
		this.redis.del("a:1");
		this.browser.click("#again");
		this.browser.awaitSaid("Include 2 keys of the service itself", "No key was found.");
		this.browser.clickText("Another analysis");
		this.browser.type("#field-match", "pipeset:*");
		this.browser.click("#analyse");
		this.browser.awaitSaid("Largest keys", "pipeset:job:1");
		assertThat(this.browser.all("#own")).isEmpty();
	}

	@Test
	void theLegendHasTheColoursOfThePictureAndTheDarkOnesAreCalm() {
		script("""
				for i = 1, 5 do
					for j = 1, 5 do
						redis.call('SET', 'level' .. i .. ':' .. j, 'x')
						if j > i then redis.call('EXPIRE', 'level' .. i .. ':' .. j, 900) end
					end
				end
				""");
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.click("#analyse");
		this.browser.awaitSaid("5 prefixes", "Area: memory in bytes",
				"Colour: keys that never expire, in percent of its keys", "20 to under 40 %", "80 to 100 %");
		for (boolean dark : new boolean[] { false, true }) {
			this.browser.dark(dark);
			for (int level = 1; level <= 4; level++) {
				assertThat(this.browser
					.run("""
							const fill = getComputedStyle(document.querySelector('.block.level-%1$d rect')).fill;
							const legend = getComputedStyle(document.querySelector('.levels .level-%1$d'), '::before').backgroundColor;
							return fill === legend || `${fill} and ${legend}`"""
						.formatted(level)))
					.isEqualTo(true);
			}
			assertThat((Double) this.browser.run(CONTRAST)).as("the least contrast of a name, dark: %s", dark)
				.isGreaterThan(4.5);
		}
		assertThat((Double) this.browser.run(SATURATION)).as("the chroma of the strongest block in the dark")
			.isLessThan(0.2);
		this.browser.click("[name=measure][value=keys]");
		this.browser.awaitSaid("Area: number of keys");
	}

	@Test
	void aRunningAnalysisIsFollowedAndCancelled() {
		script(KEYS);
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.clickText("Settings");
		this.browser.type("#field-rateLimit", "30");
		this.browser.type("#field-top", "1001");
		this.browser.clickText("Settings");
		this.browser.click("#analyse");
		assertThat(this.browser.await("#field-top").isDisplayed()).isTrue();
		this.browser.type("#field-top", "3");
		this.browser.click("#analyse");
		this.browser.awaitSaid("keys ·", "/s ·");
		this.browser.cutOff(true);
		try {
			this.browser.click("#cancel");
			this.browser.awaitSaid("The service does not answer.", "this may or may not have been done");
		}
		finally {
			this.browser.cutOff(false);
		}
		this.browser.awaitUnsaid("The service does not answer.");
		this.browser.click("#cancel");
		this.browser.awaitSaid("cancelled", "These are the totals so far.", "never expire");
		this.browser.clickText("Another analysis");
		this.browser.awaitSaid("Earlier analyses");
		assertThat(this.browser.await("#field-rateLimit").getDomProperty("value")).isEqualTo("30");
		this.browser.type("#field-separator", "x".repeat(1025));
		this.browser.click("#analyse");
		this.browser.awaitSaid("'separator' must be a text of 1 to 1024 bytes of UTF-8");
	}

	@Test
	void analysesOfOthersAndWithoutMemoryAreShown() {
		script(KEYS);
		String id = this.service.post("/v1/analyses?memory=false&depth=2&match=%5Bpl%5D*")
			.json()
			.get("analysisId")
			.asString();
		this.browser.visit(this.service, "/#/jobs/" + id);
		this.browser.clickText("Prefixes, types and largest keys");
		this.browser.awaitSaid("Without memory: Not requested", "too few separators", "60 prefixes", "product:");
		assertThat(this.browser.text()).doesNotContain("Mean", "by memory");
		this.browser.go("#/keyspace/01a20347-d60e-7396-9c73-7157c8413711");
		this.browser.awaitSaid("There is no job");
		this.browser.clickText("Keyspace");
		this.redis.flushall();
		this.browser.click("#analyse");
		this.browser.awaitSaid("No key was found.");
	}

	@Test
	void pagesFitPhonesTheDarkThemeTheKeyboardAndScreenReaders() {
		script(KEYS);
		this.browser.phone(true);
		try {
			this.browser.visit(this.service, "/#/keyspace");
			this.browser.await("#analyse").sendKeys(Keys.ENTER);
			this.browser.awaitSaid("6 prefixes");
			assertThat(this.browser.overflow()).as("pixels of the page beyond the screen").isZero();
			this.browser.picture("console-keyspace-phone");
			this.browser.dark(true);
			this.browser.picture("console-keyspace-dark");
			this.browser.awaitText("The same with curl");
			assertThat(this.browser
				.run("""
						return [...document.querySelectorAll('button, a, input, select, textarea, summary, [tabindex="0"]')]
							.filter((control) => control.checkVisibility())
							.filter((control) => !(control.ariaLabel || control.textContent.trim() || control.labels?.length))
							.map((control) => control.outerHTML)"""))
				.as("controls without a name")
				.isEqualTo(List.of());
			// The blocks are drawn once the page has its size.
			WebElement first = this.browser.await("a.block[tabindex='0']");
			assertThat(this.browser.all("a.block[tabindex='0']")).hasSize(1);
			first.sendKeys(Keys.ARROW_RIGHT);
			WebElement second = this.browser.await("a.block[tabindex='0']");
			assertThat(second.getDomAttribute("aria-label")).startsWith("user:");
			second.sendKeys(Keys.ENTER);
			this.browser.awaitSaid("Count its keys");
			this.browser.await("#count").sendKeys(Keys.ENTER);
			this.browser.awaitSaid("1,200 keys match user:*");
			this.browser.await("#expire").sendKeys(Keys.ENTER);
			this.browser.awaitSaid("Type user: to confirm");
			assertThat(this.browser.run("return document.activeElement.id")).isEqualTo("field-sweep-name");
			assertThat(this.browser.overflow()).as("pixels of the page beyond the screen").isZero();
			this.browser.picture("console-keyspace-expire-dark");
			this.browser.await("#field-sweep-name").sendKeys(Keys.ESCAPE);
			await().until(() -> this.browser.all("dialog[open]").isEmpty());
		}
		finally {
			this.browser.dark(false);
			this.browser.phone(false);
		}
	}

	private void script(String lua) {
		this.redis.eval(lua, ScriptOutputType.STATUS);
	}

}
