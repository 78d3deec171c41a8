package io.pipeset.web;

import java.time.Duration;
import java.util.Map;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.keyspace.tuning.TuningProperties;
import io.pipeset.keyspace.tuning.TuningSettings;
import io.pipeset.keyspace.tuning.Tunings;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Results;
import io.pipeset.request.Atomic;
import io.pipeset.request.Coalesce;
import io.pipeset.request.InvalidSettingException;
import io.pipeset.request.JobDefaults;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.util.unit.DataSize;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.util.UriComponentsBuilder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A tuning refuses every invalid parameter before it begins. */
@ServiceTest
class TuningParameterTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	private final Tunings tunings;

	private final JobDefaults defaults;

	private final AsyncJobs async;

	TuningParameterTests(Service service, @Autowired Tunings tunings, @Autowired JobDefaults defaults,
			@Autowired AsyncJobs async) {
		this.service = service;
		this.tunings = tunings;
		this.defaults = defaults;
		this.async = async;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					op=GET                       | 'op' must be SET, HSET or LPUSH, not 'GET'
					op=DEL                       | 'op' must be SET, HSET or LPUSH, not 'DEL'
					records=999                  | 'records' must be 1000 to 1000000, not '999'
					records=1000001              | 'records' must be 1000 to 1000000, not '1000001'
					records=many                 | 'records' must be a whole number from 1000 to 1000000, not 'many'
					valueBytes=0                 | 'valueBytes' must be 1 to 1000000, not '0'
					valueBytes=1000001           | 'valueBytes' must be 1 to 1000000, not '1000001'
					valueBytes=1000000           | 'records' times 'valueBytes' must be no more than 268435456 bytes (pipeset.tuning.max-bytes), not 100000000000
					batchSizes=0                 | 'batchSizes' must be a comma-separated list, each entry a whole number from 1 to 100000, not '0'
					batchSizes=10,,20            | 'batchSizes' must be a comma-separated list, each entry a whole number from 1 to 100000, not '10,,20'
					batchSizes=100001            | 'batchSizes' must be a comma-separated list, each entry a whole number from 1 to 100000, not '100001'
					flushes=each,never           | 'flushes' must be a comma-separated list, each entry each, close or buffered:N with N from 1 to 100000, not 'each,never'
					concurrencies=17             | 'concurrencies' must be a comma-separated list, each entry a whole number from 1 to 16, not '17'
					runs=0                       | 'runs' must be 1 to 10, not '0'
					runs=11                      | 'runs' must be 1 to 10, not '11'
					budget=0s                    | 'budget' must be a duration from 1s to 10m such as 30s or PT30S, not '0s'
					budget=11m                   | 'budget' must be a duration from 1s to 10m such as 30s or PT30S, not '11m'
					batchSizes=11,12,13,14,15,16,17,18,19&concurrencies=1,2,3,4,5,6,7,8,9,10,11,12&flushes=each,close | 'batchSizes' times flushes times concurrencies must be no more than 200 rows, not 216
					""")
	void aWrongValueIsRefusedWithWhatIsAllowed(String query, String detail) {
		assertThat(this.service.post("/v1/tunings?" + query).refusal(400, "invalid-setting")).isEqualTo(detail);
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "batchSize", "coalesce", "ttl", "Records" })
	void anUnknownParameterIsRefusedByName(String name) {
		assertThat(this.service.post("/v1/tunings?" + name + "=1").refusal(400, "unknown-setting")).isEqualTo(
				"There is no setting '" + name + "' here; available are op, records, valueBytes, batchSizes, flushes,"
						+ " concurrencies, runs, budget");
	}

	@Test
	void dataBeyondTheConfiguredLimitIsRefused() {
		TuningProperties properties = new TuningProperties(true, DataSize.ofKilobytes(20));
		assertThatExceptionOfType(InvalidSettingException.class)
			.isThrownBy(() -> TuningSettings.read(Map.of("records", "1000", "valueBytes", "21")::get, properties,
					this.defaults))
			.withMessageContaining("20480 bytes (pipeset.tuning.max-bytes), not 21000");
		assertThat(TuningSettings.read(Map.of("records", "1000", "valueBytes", "20")::get, properties, this.defaults)
			.valueBytes()).isEqualTo(20);
	}

	@Test
	void theDefaultGridHasTheDefaultsOfTheService() {
		TuningProperties properties = new TuningProperties(true, DataSize.ofMegabytes(2));
		JobDefaults own = new JobDefaults(500, "close", 3, Duration.ofSeconds(10), null, 0, 0, Duration.ofSeconds(1),
				Results.ERRORS, null, null, "0", Encoding.UTF8, Nulls.REFUSE, null, null, Atomic.NONE, Coalesce.AUTO,
				false);
		assertThat(TuningSettings.read(Map.<String, String>of()::get, properties, own).grid()).hasSize(13)
			.last()
			.hasToString("batchSize=500, flush=close, concurrency=3");
		assertThat(TuningSettings.read(Map.<String, String>of()::get, properties, this.defaults).grid()).hasSize(12)
			.extracting(Object::toString)
			.contains("batchSize=100000, flush=buffered:1000, concurrency=1");
		assertThat(TuningSettings.read(Map.of("flushes", "each")::get, properties, own).grid()).hasSize(6);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			records=20000&batchSizes=10000,50000&flushes=close&concurrencies=2     | [10000/close/2]
			records=20000&batchSizes=50000,20000&flushes=close&concurrencies=1     | [50000/close/1]
			records=20000&batchSizes=10000,20000&flushes=close&concurrencies=1     | [10000/close/1, 20000/close/1]
			batchSizes=100&flushes=close,buffered:100,buffered:200&concurrencies=1 | [100/close/1]
			batchSizes=1&flushes=close,each&concurrencies=1,2                      | [1/close/1, 1/close/2]
			batchSizes=10,10&flushes=close&concurrencies=1                         | [10/close/1]
			""")
	void rowsWithTheSameEffectAreOne(String query, String rows) {
		assertThat(TuningSettings
			.read(UriComponentsBuilder.newInstance().query(query).build().getQueryParams()::getFirst,
					new TuningProperties(true, DataSize.ofMegabytes(2)), this.defaults)
			.grid()
			.stream()
			.map((row) -> row.batchSize() + "/" + row.flush() + "/" + row.concurrency())
			.toList()).hasToString(rows);
	}

	@Test
	void aServiceWithoutTuningsNamesTheProperty() {
		TuningsController off = new TuningsController(this.tunings,
				new TuningProperties(false, DataSize.ofMegabytes(1)), this.defaults,
				new Reports(JsonMapper.builder().build()), this.async);
		assertThatExceptionOfType(ErrorResponseException.class)
			.isThrownBy(
					() -> off.tune(new MockHttpServletRequest("POST", "/v1/tunings"), new MockHttpServletResponse()))
			.satisfies((problem) -> {
				assertThat(problem.getStatusCode().value()).isEqualTo(403);
				assertThat(problem.getBody().getType()).hasToString("urn:pipeset:problem:disabled");
				assertThat(problem.getBody().getDetail()).contains("pipeset.tuning.enabled=false");
			});
	}

	@Test
	void aBodyIsRefused() {
		this.service.ndjson("/v1/tunings", "[\"SET\",\"a\",1]").refusal(400, "unexpected-body");
		assertThat(this.redis.dbsize()).isZero();
	}

}
