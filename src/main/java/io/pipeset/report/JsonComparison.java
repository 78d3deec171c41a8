package io.pipeset.report;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Compares documents as JSON values, whatever their spelling. */
public final class JsonComparison {

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private JsonComparison() {
	}

	/**
	 * Whether a reply has a value.
	 * @param matches whether the reply is an array, each element of which must be that
	 * value
	 */
	public static boolean isSame(byte[] value, byte[] reply, boolean matches) {
		try {
			JsonNode written = mapper.readTree(value);
			JsonNode found = mapper.readTree(reply);
			if (!matches) {
				return isSame(written, found);
			}
			boolean same = found.isArray() && !found.isEmpty();
			for (JsonNode match : found) {
				same &= isSame(written, match);
			}
			return same;
		}
		catch (JacksonException ex) {
			return false;
		}
	}

	/** Compares numbers by value: the module may write another form of them. */
	private static boolean isSame(JsonNode written, JsonNode found) {
		return written.equals((one, other) -> (isSameNumber(one, other) || one.equals(other)) ? 0 : 1, found);
	}

	private static boolean isSameNumber(JsonNode one, JsonNode other) {
		return one.isNumber() && other.isNumber() && (one.decimalValue().compareTo(other.decimalValue()) == 0
				|| one.doubleValue() == other.doubleValue());
	}

}
