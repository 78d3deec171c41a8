package io.pipeset.web.console;

import java.io.IOException;

import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Late answers and double clicks. */
@ServiceTest
class ConsoleRaceTests extends ConsolePages {

	private static final String RELEASE = """
			return new Promise((resolve) => {
				release();
				setTimeout(() => resolve(document.querySelector('main').innerText));
			})""";

	ConsoleRaceTests(Service service, Browser browser) {
		super(service, browser);
	}

	/** The service answers with short pages if most jobs belong to other clients. */
	@Test
	void shortPagesMakeOneList() {
		this.browser.visit(this.service, "/#/jobs");
		this.browser.awaitText("Tune");
		this.browser
			.run("""
					const real = fetch;
					window.asked = [];
					window.fetch = (url, options) => {
						const { searchParams } = new URL(url, document.baseURI);
						if (searchParams.get('kind') !== 'tuning') {
							return real(url, options);
						}
						const page = Number(searchParams.get('after') ?? 0);
						asked.push(searchParams.get('limit'));
						const jobs = [{ jobId: `tuning-${page}`, kind: 'tuning', state: 'completed', createdMillis: page, endedMillis: page, progress: { done: page } }];
						return Promise.resolve(Response.json({ jobs, next: page < 3 ? String(page + 1) : undefined }));
					};""");
		this.browser.clickText("Tune");
		this.browser.until("document.querySelectorAll('tr[data-job]').length === 4");
		assertThat(this.browser.run("return asked.slice(0, 4).join()")).isEqualTo("100,99,98,97");
	}

	@Test
	void olderJobsAreShownOnceDespiteTwoClicks() {
		this.service.post("/pipeset/5").report();
		this.browser.visit(this.service, "");
		this.browser.awaitText("Jobs");
		this.browser.run("""
				const real = fetch;
				window.fetch = async (url, asked) => {
					if (url.includes('after=')) {
						return Response.json({ jobs: [] });
					}
					const answer = await real(url, asked);
					if (url.includes('/v1/jobs?')) {
						const list = await answer.json();
						const full = Array.from({ length: 100 }, (_, i) => ({ ...list.jobs[0], jobId: `job-${i}` }));
						answer.json = async () => ({ jobs: full, next: 'job-99' });
					}
					return answer;
				}""");
		this.browser.clickText("Jobs");
		this.browser.awaitText("Older");
		this.browser.run("""
				const older = [...document.querySelectorAll('button')].find((button) => button.textContent === 'Older');
				older.click();
				older.click();""");
		this.browser.awaitSaid("There are no older jobs.");
		this.browser.clickText("Newer");
		this.browser.awaitSaid("SET job");
	}

	/** The earlier report has no failure and no error code yet. */
	@Test
	void aLateEarlierReportDoesNotReplaceTheLast() throws IOException {
		this.redis.lpush("list", "in the way");
		try (Wire upload = this.service.begin("first")) {
			String id = this.service.awaitJob("running");
			this.browser.visit(this.service, "/#/jobs");
			this.browser.awaitSaid("SET job");
			this.browser.run("""
					const real = fetch;
					window.fetch = async (url, asked) => {
						const answer = await real(url, asked);
						if (url.endsWith('/v1/jobs/%s') && !window.release) {
							const report = await answer.json();
							await new Promise((release) => window.release = release);
							answer.json = async () => report;
						}
						return answer;
					};
					location.hash = '#/jobs/%s';""".formatted(id, id));
			this.browser.until("Boolean(window.release)");
			upload.chunk("{\"op\":\"SADD\",\"key\":\"li\u202est\",\"args\":[]}\n").lastChunk().answer();
		}
		// Unescaped, the key would reverse the text after it.
		this.browser.awaitSaid("1 record did not run", "MALFORMED", "\"li\\u{202e}st\"");
		this.browser.run(RELEASE);
		this.browser.click(".chip");
		this.browser.until("document.querySelector('.chip')?.getAttribute('aria-pressed') === 'true'");
	}

	@Test
	void twoClicksOpenOneDialog() {
		this.redis.set("a:1", "1");
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.click("#analyse");
		this.browser.clickText("a:");
		this.browser.click("#count");
		this.browser.await("#unlink");
		this.browser.run("const button = document.querySelector('#unlink'); button.click(); button.click();");
		this.browser.await("dialog.sweep");
		assertThat(this.browser.all("dialog.sweep")).hasSize(1);
	}

	@Test
	void theLastChosenFileIsShownEvenIfAnEarlierOneIsReadLater() {
		this.browser.visit(this.service, "");
		this.browser.clickText("or paste records");
		this.browser.type("#text", "sid,name\n1,Ada\n");
		this.browser.awaitSaid("2 columns", "SET record:1 Ada");
		this.browser.clickText("Jobs");
		this.browser.awaitSaid("State");
		this.browser.run("""
				const real = Blob.prototype.arrayBuffer;
				Blob.prototype.arrayBuffer = async function () {
					const read = await real.call(this);
					if (!window.release) {
						await new Promise((release) => window.release = release);
					}
					return read;
				};""");
		this.browser.clickText("Load");
		this.browser.until("Boolean(window.release)");
		this.browser.type("#text", "sid,name,price\n2,Bob,3\n");
		this.browser.awaitSaid("3 columns", "HSET record:2");
		assertThat(this.browser.run(RELEASE)).asString().contains("3 columns").doesNotContain("2 columns");
	}

}
