package io.pipeset.web;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.JobSettings;
import io.pipeset.request.ServerOperations;
import io.pipeset.request.Setting;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/** Reads the settings of a job from the query string of its request. */
@Component
class SettingsReader {

	private final JobSettings defaults;

	private final ServerOperations operations;

	/**
	 * The settings of requests without parameters, by path: most small jobs have none.
	 */
	private final Map<String, JobSettings> defaultsByPath = new ConcurrentHashMap<>();

	SettingsReader(JobDefaults defaults, ServerOperations operations) {
		this.operations = operations;
		this.defaults = defaults.toSettings();
	}

	/**
	 * Reads the settings of a job, and refuses all other parameters.
	 * @param query the query string, whose other parameters are taken already
	 * @param path the path of the call, as in the table of settings
	 * @param operation the operation of the path; {@code null} if it has none
	 * @param taken the names of the call's other parameters, for messages
	 */
	JobSettings read(Query query, String path, @Nullable Operation operation, String... taken) {
		if (query.isEmpty()) {
			return this.defaultsByPath.computeIfAbsent(path,
					(call) -> this.defaults.with(query::take, call, operation, this.operations));
		}
		JobSettings settings = settings(query, path, operation);
		if (query.isEmpty()) {
			return settings;
		}
		List<String> names = Stream.concat(Stream.of(taken), Setting.names(path).stream()).distinct().toList();
		for (String name : query.rest()) {
			List<String> calls = Setting.callsOf(name);
			if (!calls.isEmpty()) {
				throw Problems.exception(
						(calls.contains(Call.PIPERPOP.shortcut())) ? Problem.NOT_AVAILABLE : Problem.UNKNOWN_SETTING,
						"The setting '" + name + "' is for " + String.join(", ", calls) + ", not for " + path
								+ "; available here are " + String.join(", ", names));
			}
		}
		query.refuseRest(names);
		return settings;
	}

	private JobSettings settings(Query query, String path, @Nullable Operation operation) {
		try {
			return this.defaults.with(query::take, path, operation, this.operations);
		}
		catch (RedisCallException ex) {
			throw Problems.exception(Problem.REDIS_UNREACHABLE, "The operation is not in the table of operations, so"
					+ " Redis has to describe it, but the query failed: " + ex.getMessage());
		}
	}

	/**
	 * Reads whether pops are reliable.
	 * @param query the query string, from which this method takes both settings
	 * @return how long a receipt lasts; {@code null} for pops without a receipt
	 */
	@Nullable Duration receiptTtl(Query query) {
		boolean reliable = Setting.RELIABLE.takeOrDefault(query::take);
		boolean given = query.has(Setting.RECEIPT_TTL.name());
		Duration ttl = Setting.RECEIPT_TTL.takeOrDefault(query::take);
		if (given && !reliable) {
			throw Problems.exception(Problem.INVALID_SETTING, "'receiptTtl' has a meaning only with reliable=true");
		}
		return (reliable) ? ttl : null;
	}

	/** Refuses all parameters, for a call that has none. */
	static void refuseAll(Query query) {
		for (String name : query.rest()) {
			throw Problems.exception(Problem.UNKNOWN_SETTING,
					"There is no setting '" + Excerpt.of(name) + "' here: this call has no settings");
		}
	}

}
