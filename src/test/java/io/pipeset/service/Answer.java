package io.pipeset.service;

import java.net.http.HttpHeaders;
import java.util.List;
import java.util.stream.StreamSupport;

import io.pipeset.report.Counts;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An answer of the service. The sums of a report are checked before a test gets it.
 *
 * @param status the status
 * @param headers the headers
 * @param text the body
 */
public record Answer(int status, HttpHeaders headers, String text) {

	private static final JsonMapper mapper = JsonMapper.builder().build();

	public JsonNode json() {
		return mapper.readTree(this.text);
	}

	public String header(String name) {
		return this.headers.firstValue(name).orElse("");
	}

	/** The report of a completed job. */
	public JsonNode report() {
		assertThat(this.status).as(this.text).isEqualTo(200);
		assertThat(header("Content-Type")).isEqualTo("application/json");
		JsonNode report = checked(json());
		assertThat(report.at("/state").asString()).isEqualTo("completed");
		assertThat(report.at("/inputComplete").asBoolean()).isTrue();
		assertThat(report.has("nextIndex")).isFalse();
		return report;
	}

	/** The problem, whose type must be part of the contract. */
	public JsonNode problem(int status, String type) {
		assertThat(this.status).as(this.text).isEqualTo(status);
		assertThat(header("Content-Type")).isEqualTo("application/problem+json");
		JsonNode problem = json();
		assertThat(problem.at("/type").asString()).isEqualTo("urn:pipeset:problem:" + type);
		assertThat(problem.at("/status").asInt()).isEqualTo(status);
		assertThat(problem.at("/title").asString()).isNotBlank();
		assertThat(problem.at("/detail").asString()).isNotBlank();
		return problem;
	}

	/** The detail of a problem without a job. */
	public String refusal(int status, String type) {
		JsonNode problem = problem(status, type);
		assertThat(problem.has("job")).isFalse();
		assertThat(this.headers.firstValue("Pipeset-Errors")).isEmpty();
		return problem.at("/detail").asString();
	}

	/** The report of a job that did not complete. */
	public JsonNode job(int status, String type, String state) {
		JsonNode job = checked(problem(status, type).get("job"));
		assertThat(job.at("/state").asString()).isEqualTo(state);
		return job;
	}

	public static Counts counts(JsonNode report) {
		JsonNode counts = report.get("counts");
		return new Counts(counts.get("received").asLong(), counts.get("applied").asLong(), counts.get("noop").asLong(),
				counts.get("rejected").asLong(), counts.get("unknown").asLong(), counts.get("unprocessed").asLong());
	}

	/** The texts of a list in an answer. */
	public static List<String> strings(JsonNode array) {
		return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asString).toList();
	}

	private JsonNode checked(JsonNode report) {
		Counts counts = counts(report);
		assertThat(counts.applied() + counts.noop() + counts.rejected() + counts.unknown() + counts.unprocessed())
			.as("sum of the outcomes of %s", counts)
			.isEqualTo(counts.received());
		boolean dryRun = report.at("/settings/dryRun").asBoolean(false);
		JsonNode verified = report.path("verified");
		long errors = (verified.isObject()) ? counts.received() - verified.get("same").asLong()
				- verified.get("superseded").asLong() - verified.get("incomparable").asLong()
				: (dryRun) ? counts.rejected() : counts.errors();
		assertThat(report.get("errors").asBoolean())
			.isEqualTo(errors > 0 || !report.get("state").asString().equals("completed"));
		assertThat(report.path("errorCodes").propertyStream().mapToLong((code) -> code.getValue().asLong()).sum())
			.as("errors by code")
			.isEqualTo(errors);
		assertThat(header("Pipeset-Errors")).isEqualTo(Long.toString(errors));
		assertThat(report.get("jobId").asString()).isNotBlank();
		assertThat(report.at("/timings/totalMillis").asDouble()).isPositive();
		if (report.at("/settings/results").asString().equals("errors")) {
			long listed = StreamSupport.stream(report.get("items").spliterator(), false)
				.filter((item) -> item.has("error"))
				.count();
			assertThat(listed + report.get("itemsOmitted").asLong()).as("errors listed and omitted").isEqualTo(errors);
		}
		return report;
	}

}
