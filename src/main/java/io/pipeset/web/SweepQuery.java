package io.pipeset.web;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.job.Client;
import io.pipeset.job.input.JobInput;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.job.settings.Setting;
import io.pipeset.pipeline.call.KeyFilter;
import io.pipeset.record.Operation;
import io.pipeset.sweep.Sweep;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.ErrorResponseException;

/**
 * The part of a query string that asks for a sweep.
 *
 * @param limit how many of them at most; {@code null} for all
 * @param expiry the settings of times to live that the request gives
 */
record SweepQuery(KeyFilter filter, @Nullable Long limit, List<String> expiry) {

	/** Its parameters. */
	static final List<Setting<?>> PARAMETERS = List.of(Setting.FROM, Setting.MATCH, Setting.TYPE, Setting.LIMIT);

	static final String[] NAMES = PARAMETERS.stream().map(Setting::name).toArray(String[]::new);

	/**
	 * Takes the parameters of a sweep.
	 * @return what it says of a sweep; {@code null} if it asks for none
	 * @throws ErrorResponseException if they do not fit together
	 */
	static @Nullable SweepQuery take(Query query) {
		if (Setting.FROM.take(query::take).isEmpty()) {
			for (String name : NAMES) {
				if (query.has(name)) {
					throw invalid("'" + name + "' has a meaning only with from=scan");
				}
			}
			return null;
		}
		String match = Setting.MATCH.take(query::take)
			.orElseThrow(() -> invalid("'match' is missing: from=scan needs the pattern of the keys, such as"
					+ " match=cache:*, or match=* for all keys"));
		String type = Setting.TYPE.take(query::take).orElse(null);
		return new SweepQuery(new KeyFilter(match, type), Setting.LIMIT.take(query::take).orElse(null),
				Stream.of("ttl", "ttlJitter").filter(query::has).toList());
	}

	/**
	 * Opens the sweep.
	 * @param request the request, which must not have a body
	 * @param client the client whose keys it is for
	 * @throws ErrorResponseException if the request has a body, or settings that do not
	 * fit a sweep
	 */
	JobInput open(HttpServletRequest request, JobSettings settings, Client client) {
		if (!Uploads.isAbsent(request)) {
			throw Problems.exception(Problem.UNEXPECTED_BODY, "With from=scan the records are the keys that SCAN finds:"
					+ " send the request without a body and Content-Type, or the records without 'from'");
		}
		Operation operation = settings.operation();
		String allowed = Sweep.OPERATIONS.stream().map(Operation::name).collect(Collectors.joining(", "));
		if (operation == null || !settings.only()) {
			throw invalid("'op' is missing: from=scan needs one of " + allowed);
		}
		if (!Sweep.OPERATIONS.contains(operation)) {
			throw invalid("'op' must be one of " + allowed + " with from=scan, not '" + operation + "'");
		}
		boolean expires = operation == Operation.EXPIRE;
		if (expires && !this.expiry.contains("ttl")) {
			throw invalid("'ttl' is missing: op=EXPIRE needs the seconds after which the keys expire");
		}
		if (!expires && !this.expiry.isEmpty()) {
			throw invalid("'" + this.expiry.get(0) + "' has a meaning with from=scan only for op=EXPIRE, not '"
					+ operation + "'");
		}
		return new JobInput.Scanned(new Sweep(this.filter, this.limit, operation,
				(expires) ? settings.recordDefaults().ttl() : null, client.keys()));
	}

	private static ErrorResponseException invalid(String detail) {
		return Problems.exception(Problem.INVALID_SETTING, detail);
	}

}
