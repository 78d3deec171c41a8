package io.pipeset.web;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.regex.Pattern;

import io.pipeset.input.JobInput;
import io.pipeset.receipt.Receipts;
import io.pipeset.receipt.ReliablePops;
import io.pipeset.record.GeneratedRecords;
import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.request.Allowed;
import io.pipeset.request.GeneratedProperties;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobSettings;
import io.pipeset.request.Setting;
import io.pipeset.run.JobRequest.Values;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpMethod;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.resource.NoResourceFoundException;

/** The four calls whose path names an operation and a count or a key. */
@RestController
class ShortcutsController {

	private static final Pattern UNFIT_FOR_PATH = Pattern.compile(";|%(2f|3b|25|5c)", Pattern.CASE_INSENSITIVE);

	private static final String NOT_GENERATED = "Generated records are switched off here (pipeset.generated.enabled=false),"
			+ " because they are for development: send your own records, with their Content-Type, to ";

	/** The list from which values are popped. */
	static final Setting<String> LIST = Setting.of("key", Call.PIPERPOP.shortcut(),
			Allowed.of("a key", Function.identity()), null,
			"The list to pop from. If the service generates records, the default is `mylist9`.");

	private static final String DEFAULT_LIST = "mylist9";

	static final String DEFAULT_PUSHES = "100";

	private final JobLimits limits;

	private final GeneratedProperties generated;

	private final Receipts receipts;

	private final SettingsReader settings;

	private final Uploads uploads;

	private final RecordCalls calls;

	ShortcutsController(JobLimits limits, GeneratedProperties generated, Receipts receipts, SettingsReader settings,
			Uploads uploads, RecordCalls calls) {
		this.limits = limits;
		this.generated = generated;
		this.receipts = receipts;
		this.settings = settings;
		this.uploads = uploads;
		this.calls = calls;
	}

	@CallMapping(Call.PIPESET)
	void pipeset(@PathVariable String count, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		generateOrUpload(request, response, Call.PIPESET.shortcut(), Operation.SET, count, GeneratedRecords::sets);
	}

	@CallMapping(Call.PIPEHSET)
	void pipehset(@PathVariable String count, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		generateOrUpload(request, response, Call.PIPEHSET.shortcut(), Operation.HSET, count, GeneratedRecords::hashes);
	}

	@CallMapping(Call.PIPERPOP)
	void piperpop(@PathVariable String count, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		long pops = count(count, this.limits.maxPopped(), "max-popped");
		Query query = Query.of(request);
		String list = LIST.take(query::take).orElseGet(this::defaultList);
		Duration receiptTtl = this.settings.receiptTtl(query);
		JobSettings settings = this.settings.read(query, Call.PIPERPOP.shortcut(), Operation.RPOP, LIST.name());
		if (receiptTtl != null && settings.isAtomic()) {
			throw Problems.exception(Problem.INVALID_SETTING,
					"'atomic' must be none with reliable=true, because a reliable pop loses no value anyway");
		}
		Uploads.refuseBody(request);
		JobInput input = (receiptTtl != null)
				? new JobInput.Popped(new ReliablePops(CurrentClient.get().name(), list, pops, receiptTtl),
						this.receipts, settings.check().dryRun())
				: new JobInput.Generated(GeneratedRecords.pops(list, pops), pops);
		this.calls.run(input, settings, Values.APART, request, response);
	}

	@CallMapping(Call.LISTINPUT)
	void listinput(@PathVariable String key, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		if (UNFIT_FOR_PATH.matcher(request.getRequestURI()).find()) {
			throw unfitKey();
		}
		Query query = Query.of(request);
		String text = query.take("count");
		JobSettings settings = this.settings.read(query, Call.LISTINPUT.shortcut(), Operation.LPUSH, "count");
		long pushes = count((text != null) ? text : DEFAULT_PUSHES, this.limits.maxGenerated(), "max-generated");
		Uploads.refuseBody(request);
		requireGenerationEnabled("/v1/jobs");
		this.calls.run(new JobInput.Generated(GeneratedRecords.pushes(key, pushes), pushes), settings, Values.IN_ITEMS,
				request, response);
	}

	/** Refuses a path without a key, and a key that the container has cut at ';'. */
	@PostMapping("/listinput/{*rest}")
	void listinputWithoutKey(@PathVariable String rest, HttpServletRequest request) throws NoResourceFoundException {
		if (rest.length() > 1 || UNFIT_FOR_PATH.matcher(request.getRequestURI()).find()) {
			throw unfitKey();
		}
		throw new NoResourceFoundException(HttpMethod.POST, request.getRequestURI(), rest);
	}

	private void generateOrUpload(HttpServletRequest request, HttpServletResponse response, String path,
			Operation operation, String count, LongFunction<GeneratedRecords> generator) throws IOException {
		Query query = Query.of(request);
		boolean generated = Uploads.hasNoRecords(request);
		Uploads.refuseForeignSettings(query, (generated) ? null : RecordFormat.of(Uploads.mediaType(request)),
				!generated);
		JobSettings settings = this.settings.read(query, path, operation);
		long records = count(count, this.limits.maxGenerated(), "max-generated");
		if (generated) {
			requireGenerationEnabled(request.getRequestURI());
			this.calls.run(new JobInput.Generated(generator.apply(records), records), settings, Values.IN_ITEMS,
					request, response);
		}
		else {
			this.calls.run(this.uploads.open(request, CurrentClient.get(), settings.records().mapping(), records),
					settings, Values.IN_ITEMS, request, response);
		}
	}

	/** The list of a pop without a key. Only services for development have one. */
	private String defaultList() {
		if (!this.generated.enabled()) {
			throw Problems.exception(Problem.INVALID_SETTING, "'key' is missing: " + Call.PIPERPOP.shortcut()
					+ " needs the list to pop from, as in " + Call.PIPERPOP.shortcut() + "/10?key=queue");
		}
		return DEFAULT_LIST;
	}

	private void requireGenerationEnabled(String uploadPath) {
		if (!this.generated.enabled()) {
			throw Problems.exception(Problem.DISABLED, NOT_GENERATED + uploadPath);
		}
	}

	private static ErrorResponseException unfitKey() {
		return Problems.exception(Problem.INVALID_KEY, "A key with '/', ';', '%' or '\\' cannot stand in a path: post"
				+ " {\"op\":\"LPUSH\",\"key\":\"…\",\"args\":[\"…\"]} to /v1/jobs");
	}

	private static long count(String text, long most, String limit) {
		Long count = Allowed.number(text);
		if (count == null || count > most) {
			throw Problems.exception(Problem.INVALID_COUNT, "'count' must be a whole number from 0 to " + most
					+ " (pipeset.limits." + limit + "), not '" + Excerpt.of(text) + "'");
		}
		return count;
	}

}
