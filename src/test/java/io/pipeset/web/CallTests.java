package io.pipeset.web;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.Documentation;
import io.pipeset.report.Ending.Cause;
import io.pipeset.request.JobLimits;
import io.pipeset.request.Setting;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.problem.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;

/** Routing, documentation and messages agree with the tables of calls and problems. */
@ServiceTest
class CallTests {

	@Autowired
	@Qualifier("requestMappingHandlerMapping")
	private RequestMappingHandlerMapping mapping;

	@Autowired
	private JobLimits limits;

	private final Service service;

	CallTests(Service service) {
		this.service = service;
	}

	@Test
	void everyCallIsServedAndNothingElse() {
		Set<String> served = this.mapping.getHandlerMethods()
			.keySet()
			.stream()
			.flatMap((call) -> call.getMethodsCondition()
				.getMethods()
				.stream()
				.flatMap((method) -> call.getPatternValues().stream().map((path) -> method + " " + path)))
			.filter((call) -> !call.contains("{*"))
			.collect(Collectors.toSet());
		assertThat(served).containsExactlyInAnyOrderElementsOf(
				Stream.of(Call.values()).map((call) -> call.method() + " " + call.path()).toList());
	}

	@Test
	void theDocumentationHasTheSameCalls() throws IOException {
		assertThat(Documentation.rows("docs/calls.md", "# The HTTP calls"))
			.as("the first table in docs/calls.md: change it, or Call, so that they agree")
			.containsExactlyElementsOf(Stream.of(Call.values())
				.map((call) -> "| `" + call.method() + " " + call.path() + "` | " + call.meaning() + " |")
				.toList());
	}

	@Test
	void theDocumentationHasTheSameProblems() throws IOException {
		assertThat(Documentation.rows("docs/outcomes.md", "## Statuses"))
			.as("the table in docs/outcomes.md under '## Statuses': change it, or Problem, so that they agree")
			.containsExactlyElementsOf(Stream.of(Problem.values())
				.map((problem) -> "| `" + problem.type() + "` | " + problem.status().value() + " | " + state(problem)
						+ " | " + problem.meaning() + " |")
				.toList());
	}

	private static String state(Problem problem) {
		return Stream.of(Cause.values())
			.filter((cause) -> cause != Cause.COMPLETED)
			.filter((cause) -> Reports.problem(cause, true) == problem || Reports.problem(cause, false) == problem)
			.map((cause) -> "`" + cause.state().label() + "`")
			.findAny()
			.orElse("–");
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "COMPLETED")
	void aJobsEndHasAProblemOfTheSameName(Cause cause) {
		for (boolean effective : new boolean[] { true, false }) {
			assertThat(Reports.problem(cause, effective).type()).isEqualTo(cause.problemType());
		}
	}

	@ParameterizedTest
	@EnumSource
	void aCallRefusesSettingsThatItsRowDoesNotHave(Call call) {
		String path = call.path()
			.replace("{count}", "0")
			.replace("{id}", "01a1fe42-e2a9-737d-8382-d7f64ec595eb")
			.replace("{key}", "list");
		List<String> names = CallSettings.parameters(call, this.limits).stream().map(Setting::name).toList();
		String detail = this.service
			.send(this.service.request(path + "?nothing=1").method(call.method().name(), BodyPublishers.noBody()))
			.refusal(400, (call == Call.PACE_JOB) ? "invalid-setting" : "unknown-setting");
		if (detail.contains("available are ")) {
			assertThat(detail.replaceFirst(".*available are ", "").split(", ")).containsExactlyElementsOf(names);
		}
		else {
			assertThat((call == Call.PACE_JOB) ? List.of() : names).isEmpty();
		}
	}

	@ParameterizedTest
	@CsvSource({ "GET, /pipeset/5, There is no GET /pipeset/5; send POST /pipeset/5",
			"PUT, /v1/jobs, There is no PUT /v1/jobs; send GET /v1/jobs or POST /v1/jobs",
			"GET, /v1/scripts, There is no GET /v1/scripts; send POST /v1/scripts",
			"POST, /, There is no POST /; send GET /",
			"GET, /listinput/a%20b, There is no GET /listinput/a%20b; send POST /listinput/a%20b" })
	void aWrongMethodIsAnsweredWithTheRightOne(String method, String path, String detail) {
		assertThat(this.service.send(this.service.request(path).method(method, BodyPublishers.noBody()))
			.refusal(405, "method-not-allowed")).isEqualTo(detail);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			*/*                                    | application/json
			text/html                              | text/html;charset=UTF-8
			application/json, text/html            | text/html;charset=UTF-8
			application/json, text/html;q=0.9      | application/json
			text/html;q=0                          | application/json
			text/html;q=many                       | application/json
			text/*                                 | text/html;charset=UTF-8
			text/html;q=0, text/*                  | application/json
			text/html;q=0.5, */*                   | application/json
			""")
	void theStartPageIsHtmlForCallersThatPreferHtml(String accepted, String type) {
		assertThat(this.service.send(this.service.request("/").header("Accept", accepted).GET()).header("Content-Type"))
			.isEqualTo(type);
	}

	@Test
	void theStartPageListsTheCalls() {
		List<String> calls = Arrays.stream(Call.values()).map((call) -> call.method() + " " + call.path()).toList();
		assertThat(this.service.get("/").json().get("calls"))
			.extracting((call) -> call.get("method").asString() + " " + call.get("path").asString())
			.containsExactlyElementsOf(calls);
		assertThat(this.service.get("/").json().get("version").asString()).isNotEmpty();
		assertThat(this.service.get("/").json().get("redis"))
			.isEqualTo(this.service.post("/pipeset/0").json().get("redis"));
		var page = this.service.send(this.service.request("/").header("Accept", "text/html,*/*;q=0.8").GET());
		assertThat(page.header("Content-Type")).isEqualTo("text/html;charset=UTF-8");
		assertThat(page.header("Content-Security-Policy")).startsWith("default-src 'none'");
		calls.forEach((call) -> assertThat(page.text()).contains("<code>" + call + "</code>"));
		assertThat(page.text()).contains("<a href=\"console\">").doesNotContain("](").doesNotContain("`");
	}

}
