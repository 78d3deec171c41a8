package io.pipeset.benchmark.rival;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.configuration.support.MapJobRegistry;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.parameters.JobParameters;
import org.springframework.batch.core.launch.support.TaskExecutorJobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.repository.support.ResourcelessJobRepository;
import org.springframework.batch.core.step.StepExecution;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.infrastructure.item.ItemReader;
import org.springframework.batch.infrastructure.item.ItemWriter;
import org.springframework.batch.infrastructure.item.database.builder.JdbcCursorItemReaderBuilder;
import org.springframework.batch.infrastructure.support.transaction.ResourcelessTransactionManager;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.Environment;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.lettuce.LettuceConnection.PipeliningFlushPolicy;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Rows of a query become hashes, a chunk at a time. */
@RestController
@Profile(FirstTryApplication.PROFILE)
class BatchController {

	private static final int CHUNK = 1000;

	private final DataSource dataSource;

	private final String sql;

	private final StringRedisTemplate redisTemplate;

	private final LettuceConnectionFactory factory;

	BatchController(Environment environment, StringRedisTemplate redisTemplate, LettuceConnectionFactory factory) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(environment.getRequiredProperty(BatchApplication.URL));
		this.dataSource = pool;
		this.sql = environment.getRequiredProperty(BatchApplication.SQL);
		this.redisTemplate = redisTemplate;
		this.factory = factory;
	}

	@PostMapping("/batch/{way}/{count}")
	Map<String, Long> batch(@PathVariable String way, @PathVariable int count) throws Exception {
		return switch (way) {
			case "each" -> load(count, this::writeEach);
			case "pipelined" -> load(count, this::writePipelined, PipeliningFlushPolicy.flushEachCommand());
			case "pipelined-close" -> load(count, this::writePipelined, PipeliningFlushPolicy.flushOnClose());
			default -> throw new IllegalArgumentException(way);
		};
	}

	private Map<String, Long> load(int count, ItemWriter<Map<String, String>> writer, PipeliningFlushPolicy policy)
			throws Exception {
		this.factory.setPipeliningFlushPolicy(policy);
		return load(count, writer);
	}

	private Map<String, Long> load(int count, ItemWriter<Map<String, String>> writer) throws Exception {
		// Cheaper than the usual repository, whose tables hear of every chunk.
		JobRepository repository = new ResourcelessJobRepository();
		Job job = new JobBuilder("load", repository)
			.start(new StepBuilder("rows", repository).<Map<String, String>, Map<String, String>>chunk(CHUNK)
				.transactionManager(new ResourcelessTransactionManager())
				.reader(reader(count))
				.writer(writer)
				.build())
			.build();
		TaskExecutorJobOperator operator = new TaskExecutorJobOperator();
		operator.setJobRepository(repository);
		operator.setJobRegistry(new MapJobRegistry());
		operator.afterPropertiesSet();
		JobExecution execution = operator.start(job, new JobParameters());
		if (execution.getStatus() != BatchStatus.COMPLETED) {
			throw new IllegalStateException("The job ended " + execution.getStatus(),
					execution.getAllFailureExceptions().stream().findFirst().orElse(null));
		}
		return Map.of("applied", execution.getStepExecutions().stream().mapToLong(StepExecution::getWriteCount).sum());
	}

	private ItemReader<Map<String, String>> reader(int count) {
		return new JdbcCursorItemReaderBuilder<Map<String, String>>().name("rows")
			.dataSource(this.dataSource)
			.sql(this.sql)
			.fetchSize(CHUNK)
			// Without a transaction, the driver would hold all rows.
			.connectionAutoCommit(false)
			.maxItemCount(count)
			.rowMapper((row, number) -> product(row))
			.saveState(false)
			.build();
	}

	private static Map<String, String> product(ResultSet row) throws SQLException {
		Map<String, String> product = new HashMap<>();
		for (String column : new String[] { "sku", "name", "price", "updated" }) {
			product.put(column, row.getString(column));
		}
		return product;
	}

	private void writeEach(Iterable<? extends Map<String, String>> products) {
		for (Map<String, String> product : products) {
			this.redisTemplate.opsForHash().putAll("product:" + product.get("sku"), product);
		}
	}

	private void writePipelined(Iterable<? extends Map<String, String>> products) {
		SessionCallback<Object> writes = new SessionCallback<>() {

			@Override
			@SuppressWarnings("unchecked")
			public <K, V> Object execute(RedisOperations<K, V> operations) throws DataAccessException {
				RedisOperations<String, String> strings = (RedisOperations<String, String>) operations;
				for (Map<String, String> product : products) {
					strings.opsForHash().putAll("product:" + product.get("sku"), product);
				}
				return null;
			}

		};
		this.redisTemplate.executePipelined(writes);
	}

}
