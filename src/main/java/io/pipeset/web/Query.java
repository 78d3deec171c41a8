package io.pipeset.web;

import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.encoding.NearestName;
import io.pipeset.request.Setting;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.ErrorResponseException;

/**
 * The parameters of a query string. Each reader takes the parameters that it knows; if
 * any remain, the caller has made a mistake. The servlet container does not parse them,
 * because it would also read a body of a form type.
 */
final class Query {

	/** A percentage such as 10%, whose sign cannot begin an escape. */
	private static final Pattern PERCENTAGE = Pattern.compile("[0-9]{1,9}%");

	/** If there are more names than this, a message gives only the nearest one. */
	private static final int MAX_LISTED = 8;

	private final Map<String, Deque<String>> parameters;

	private Query(Map<String, Deque<String>> parameters) {
		this.parameters = parameters;
	}

	static Query of(HttpServletRequest request) {
		Map<String, Deque<String>> parameters = new LinkedHashMap<>();
		String query = request.getQueryString();
		if (query != null) {
			for (String parameter : query.split("&", -1)) {
				if (!parameter.isEmpty()) {
					int equals = parameter.indexOf('=');
					String name = decode((equals < 0) ? parameter : parameter.substring(0, equals), "A name");
					String value = decode((equals < 0) ? "" : parameter.substring(equals + 1),
							"The value of '" + Excerpt.of(name) + "'");
					parameters.computeIfAbsent(name, (key) -> new ArrayDeque<>(1)).add(value);
				}
			}
		}
		return new Query(parameters);
	}

	/**
	 * Takes a parameter, or its next value if it is repeated.
	 * @return the value; {@code null} if there is none, or no more
	 * @throws ErrorResponseException if the parameter is repeated but takes one value
	 */
	@Nullable String take(String name) {
		Deque<String> values = this.parameters.get(name);
		if (values == null) {
			return null;
		}
		if (values.size() > 1 && !Setting.isRepeated(name)) {
			throw Problems.exception(Problem.INVALID_SETTING, "'" + Excerpt.of(name) + "' is given more than once");
		}
		String value = values.remove();
		if (values.isEmpty()) {
			this.parameters.remove(name);
		}
		return value;
	}

	/** Whether all parameters are taken. */
	boolean isEmpty() {
		return this.parameters.isEmpty();
	}

	/** Whether a parameter is given, and not taken yet. */
	boolean has(String name) {
		return this.parameters.containsKey(name);
	}

	/** The names of the parameters that are not taken yet. */
	Iterable<String> rest() {
		return this.parameters.keySet();
	}

	/**
	 * Refuses the parameters that are not taken yet.
	 * @param available the names of the call's parameters, for the message
	 * @throws ErrorResponseException if there are any
	 */
	void refuseRest(List<String> available) {
		for (String name : rest()) {
			String nearest = (available.size() > MAX_LISTED) ? NearestName.of(name, available) : null;
			throw Problems.exception(Problem.UNKNOWN_SETTING,
					"There is no setting '" + Excerpt.of(name) + "' here; "
							+ ((nearest != null) ? "the nearest is '" + nearest + "', and case matters"
									: "available are " + String.join(", ", available)));
		}
	}

	/**
	 * Decodes a part of the query string, which may be secret, so that no message has it.
	 */
	private static String decode(String text, String what) {
		if (PERCENTAGE.matcher(text).matches()) {
			return text;
		}
		try {
			// The decoder is strict: with replacements, a key would become another key.
			byte[] bytes = URLDecoder.decode(text, StandardCharsets.ISO_8859_1).getBytes(StandardCharsets.ISO_8859_1);
			return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
		}
		catch (IllegalArgumentException | CharacterCodingException ex) {
			throw Problems.exception(Problem.INVALID_SETTING,
					what + " in the query string is not UTF-8, percent-encoded as RFC 3986 says");
		}
	}

}
