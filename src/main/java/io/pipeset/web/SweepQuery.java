package io.pipeset.web;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.engine.pipeline.call.KeyFilter;
import io.pipeset.input.JobInput;
import io.pipeset.input.Sweep;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.request.Client;
import io.pipeset.request.JobSettings;
import io.pipeset.request.Setting;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.ErrorResponseException;

/**
 * The parameters of a sweep, from a query string.
 *
 * @param limit the most keys of the sweep; {@code null} for all
 * @param hasTtl whether the query has the setting {@code ttl}
 * @param options the options of EXPIRE
 */
record SweepQuery(KeyFilter filter, @Nullable Long limit, boolean hasTtl, List<String> options) {

	static final List<Setting<?>> PARAMETERS = List.of(Setting.FROM, Setting.MATCH, Setting.TYPE, Setting.LIMIT);

	static final String[] NAMES = PARAMETERS.stream().map(Setting::name).toArray(String[]::new);

	/**
	 * Takes the parameters of a sweep, after {@code from}.
	 * @throws ErrorResponseException if the parameters do not fit together
	 */
	static SweepQuery take(Query query) {
		String match = Setting.MATCH.take(query::take)
			.orElseThrow(() -> invalid("'match' is missing: from=scan needs the pattern of the keys, such as"
					+ " match=cache:*, or match=* for all keys"));
		String type = Setting.TYPE.take(query::take).orElse(null);
		List<String> options = new ArrayList<>();
		for (String option; (option = query.take(Setting.ARGS.name())) != null;) {
			options.add(option);
		}
		return new SweepQuery(new KeyFilter(match, type), Setting.LIMIT.take(query::take).orElse(null),
				query.has(Setting.TTL.name()), options);
	}

	/**
	 * Creates the input of the sweep's job.
	 * @param client the client of the request, whose policy limits the keys
	 * @throws ErrorResponseException if the request has a body, or settings that do not
	 * fit a sweep
	 */
	JobInput open(HttpServletRequest request, JobSettings settings, Client client) {
		if (!Uploads.hasNoRecords(request)) {
			throw Problems.exception(Problem.UNEXPECTED_BODY, "With from=scan the records are the keys that SCAN finds:"
					+ " send the request without a body and Content-Type, or the records without 'from'");
		}
		Operation operation = settings.records().operation();
		String allowed = Sweep.OPERATIONS.stream().map(Operation::name).collect(Collectors.joining(", "));
		if (operation == null || !settings.records().only()) {
			throw invalid("'op' is missing: from=scan needs one of " + allowed);
		}
		if (!Sweep.OPERATIONS.contains(operation)) {
			throw invalid("'op' must be one of " + allowed + " with from=scan, not '" + operation + "'");
		}
		if (operation == Operation.EXPIRE) {
			checkExpiry();
		}
		else if (!this.options.isEmpty()) {
			throw invalid("'args' has a meaning with from=scan only for op=EXPIRE, not '" + operation + "'");
		}
		return new JobInput.Scanned(new Sweep(this.filter, this.limit, operation,
				settings.records().recordDefaults().ttl(), this.options, client.keys()));
	}

	private void checkExpiry() {
		if (!this.hasTtl) {
			throw invalid("'ttl' is missing: op=EXPIRE needs the seconds after which the keys expire");
		}
		Record sample = new Record();
		sample.begin(0);
		sample.operation(Operation.EXPIRE);
		Stream.concat(Stream.of("key", "1"), this.options.stream())
			.map((word) -> word.getBytes(StandardCharsets.UTF_8))
			.forEach((word) -> sample.argument(word, 0, word.length));
		sample.check();
		Rejection refused = sample.rejection();
		if (refused != null) {
			throw invalid("'args' is refused: " + refused.message());
		}
	}

	private static ErrorResponseException invalid(String detail) {
		return Problems.exception(Problem.INVALID_SETTING, detail);
	}

}
