package io.pipeset.project;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.pipeset.Documentation;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** The bill of materials is in the jar, and the page on dependencies has its licences. */
class SbomTests {

	@Test
	void eachLicenceOfTheApplicationIsListed() throws IOException {
		Set<String> listed = Documentation.rows("docs/developers/dependencies.md", "## Licences")
			.stream()
			.map((row) -> row.split("\\|", -1)[1].replace("`", "").strip())
			.collect(Collectors.toCollection(TreeSet::new));
		Set<String> found = new TreeSet<>();
		components().forEach((component) -> found.add(licences(component)));
		assertThat(found).isEqualTo(listed);
	}

	@Test
	void itHasWhatIsReleasedAndNothingElse() throws IOException {
		assertThat(components()).extracting((component) -> component.get("name").asString())
			.contains("lettuce-core", "spring-data-redis", "tomcat-embed-core", "micrometer-registry-prometheus")
			.doesNotContain("embedded-redis", "assertj-core", "archunit")
			.doesNotHaveDuplicates();
	}

	private static String licences(JsonNode component) {
		return component.get("licenses")
			.valueStream()
			.map((licence) -> licence.at("/license/id")
				.asString(licence.at("/license/name").asString(licence.path("expression").asString("none"))))
			.sorted()
			.collect(Collectors.joining(" or "));
	}

	private static List<JsonNode> components() throws IOException {
		try (InputStream json = SbomTests.class.getResourceAsStream("/META-INF/sbom/application.cdx.json")) {
			assumeThat(json).as("Maven writes it, unless it is offline (mvn -o)").isNotNull();
			return JsonMapper.shared().readTree(json).get("components").valueStream().toList();
		}
	}

}
