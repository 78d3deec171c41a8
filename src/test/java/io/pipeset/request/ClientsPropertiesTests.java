package io.pipeset.request;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.request.ClientsProperties.Policy;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/** Clients can be configured by environment variables and by properties. */
class ClientsPropertiesTests {

	@Test
	void environmentVariablesConfigureAClientAndAnEmptyListAllowsNothing() {
		Map<String, Object> variables = new HashMap<>();
		variables.put("PIPESET_CLIENTS_PROMETHEUS_KEYSHA256", "aa,bb");
		variables.put("PIPESET_CLIENTS_PROMETHEUS_OPERATIONS", "");
		variables.put("PIPESET_CLIENTS_PROMETHEUS_KEYPREFIXES", "order:,cart:");
		variables.put("PIPESET_CLIENTS_PROMETHEUS_TUNINGS", "true");
		variables.put("PIPESET_CLIENTS_PROMETHEUS_LIMITS_MAXBYTES", "64KB");
		variables.put("PIPESET_LIMITS_MAXITEMS", "7");
		Map<String, Policy> clients = bind(new SystemEnvironmentPropertySource("test-systemEnvironment", variables));
		assertThat(clients).containsOnlyKeys("prometheus");
		Policy policy = clients.get("prometheus");
		assertThat(policy.keySha256()).containsExactly("aa", "bb");
		assertThat(policy.operations()).isEmpty();
		assertThat(policy.keyPrefixes()).containsExactly("order:", "cart:");
		assertThat(policy.tunings()).isTrue();
		assertThat(policy.limits().maxBytes()).isEqualTo(DataSize.ofKilobytes(64));
		assertThat(policy.limits().maxRecords()).isNull();
	}

	@Test
	void aClientHasByDefaultAllButTheRightsThatAffectOtherClients() {
		Policy policy = bind(new MapPropertySource("test", Map.of("pipeset.clients.a-b-1.key-sha256[0]", "aa",
				"pipeset.clients.a-b-1.operations", "set, json.set")))
			.get("a-b-1");
		assertThat(policy.keySha256()).isEqualTo(List.of("aa"));
		assertThat(policy.operations()).containsExactlyInAnyOrder("set", "json.set");
		assertThat(policy.keyPrefixes()).isNull();
		assertThat(policy.sweeps()).isTrue();
		assertThat(List.of(policy.scripts(), policy.analyses(), policy.tunings())).containsOnly(false);
	}

	private static Map<String, Policy> bind(PropertySource<?> source) {
		return new Binder(ConfigurationPropertySources.from(source)).bindOrCreate("pipeset", ClientsProperties.class)
			.clients();
	}

}
