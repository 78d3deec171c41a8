package io.pipeset.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.pipeset.keyspace.AnalysisSettings;
import io.pipeset.keyspace.tuning.TuningSettings;
import io.pipeset.request.Allowed;
import io.pipeset.request.JobLimits;
import io.pipeset.request.Setting;
import org.jspecify.annotations.Nullable;

/** The settings of a call: the variables of its path, and its parameters. */
public final class CallSettings {

	private static final Pattern VARIABLE = Pattern.compile("\\{(\\w+)}");

	private CallSettings() {
	}

	/** The variables of the path, with their allowed values. */
	public static List<Setting<?>> variables(Call call, JobLimits limits) {
		List<Setting<?>> variables = new ArrayList<>();
		Matcher variable = VARIABLE.matcher(call.path());
		while (variable.find()) {
			variables.add(switch (variable.group(1)) {
				case "count" -> count((call == Call.PIPERPOP) ? limits.maxPopped() : limits.maxGenerated(), null,
						"The number of records.");
				case "key" -> Setting.of("key", call.path(),
						Allowed.of("a key without / ; % and \\", Function.identity(),
								Map.of("type", "string", "minLength", 1, "pattern", "^[^/;%\\\\]+$")),
						null, "The key of the list.");
				default -> Setting.of("id", call.path(),
						Allowed.of("the id of a job", Function.identity(),
								Map.of("type", "string", "pattern", JobIds.PATTERN)),
						null, "The `jobId` of the report.");
			});
		}
		return variables;
	}

	/** The parameters that the query string may have. */
	public static List<Setting<?>> parameters(Call call, JobLimits limits) {
		return switch (call) {
			case PIPESET, PIPEHSET -> Setting.of(call.shortcut());
			case PIPERPOP -> join(List.of(ShortcutsController.LIST), Setting.of(call.shortcut()));
			case LISTINPUT ->
				join(List.of(count(limits.maxGenerated(), ShortcutsController.DEFAULT_PUSHES, "The number of values.")),
						Setting.of(call.shortcut()));
			case RUN_JOB -> join(JobsController.PARAMETERS, Setting.of(call.path()));
			case LIST_JOBS -> List.of(KnownJobsController.STATE, KnownJobsController.KIND, KnownJobsController.LIMIT,
					KnownJobsController.AFTER);
			case LIST_ITEMS -> List.of(KnownJobsController.STATUS);
			case PACE_JOB -> List.of(KnownJobsController.RATE_LIMIT);
			case ANALYSE -> AnalysisSettings.all();
			case TUNE -> TuningSettings.all();
			default -> List.of();
		};
	}

	private static List<Setting<?>> join(List<Setting<?>> first, List<Setting<?>> second) {
		return Stream.concat(first.stream(), second.stream()).toList();
	}

	private static Setting<Long> count(long most, @Nullable String defaultValue, String meaning) {
		return Setting.of("count", "",
				Allowed.of("a whole number from 0 to " + most, Allowed::number,
						Map.of("type", "integer", "format", "int64", "minimum", 0, "maximum", most)),
				defaultValue, meaning);
	}

}
