package io.pipeset.record.json;

import java.util.Map;

import io.pipeset.record.Operation;
import org.jspecify.annotations.Nullable;

/**
 * The members that contain an operation's arguments after the key. All operations allow
 * {@code args}, and some have their own members.
 */
enum JsonSpelling {

	VALUE_AND_TTL("'key', 'value' and 'ttl' or 'expireAt', or 'key' and 'args'", JsonMember.VALUE, JsonMember.TTL),

	FIELDS_AND_TTL("'key', 'fields' and 'ttl' or 'expireAt', or 'key' and 'args'", JsonMember.FIELDS, JsonMember.TTL),

	COUNT("'key' and 'count', or 'key' and 'args'", null, JsonMember.COUNT),

	VALUE("'key' and 'value', or 'key' and 'args'", JsonMember.VALUE, null),

	ARGS("'key' and 'args'", null, null),

	/** Other arguments come before the first key. */
	COMMAND("'args' alone, all that follows the name in the command", null, null);

	private static final JsonMember[] OWN = { JsonMember.VALUE, JsonMember.FIELDS, JsonMember.TTL, JsonMember.EXPIRE_AT,
			JsonMember.COUNT };

	private static final int EXPIRIES = JsonMember.TTL.bit() | JsonMember.EXPIRE_AT.bit();

	private static final Map<Operation, JsonSpelling> BY_OPERATION = Map.of(Operation.SET, VALUE_AND_TTL,
			Operation.HSET, FIELDS_AND_TTL, Operation.RPOP, COUNT, Operation.LPOP, COUNT, Operation.LPUSH, VALUE,
			Operation.RPUSH, VALUE);

	private final String takes;

	private final @Nullable JsonMember required;

	private final @Nullable JsonMember optional;

	JsonSpelling(String takes, @Nullable JsonMember required, @Nullable JsonMember optional) {
		this.takes = takes;
		this.required = required;
		this.optional = optional;
	}

	static JsonSpelling of(Operation operation) {
		return BY_OPERATION.getOrDefault(operation,
				(operation.firstKey() == 0 && !operation.isContainer()) ? ARGS : COMMAND);
	}

	/**
	 * Checks a record's members against the members that its operation takes.
	 * @param seen the bits of the record's members
	 * @return the problem, for the caller to read, or {@code null}
	 */
	@Nullable String check(Operation operation, int seen) {
		for (JsonMember member : OWN) {
			if ((seen & member.bit()) != 0) {
				boolean expiry = member == JsonMember.EXPIRE_AT && this.optional == JsonMember.TTL;
				if (member != this.required && member != this.optional && !expiry) {
					return notAllowed(operation, member);
				}
				if ((seen & JsonMember.ARGS.bit()) != 0) {
					return "record member 'args' goes with 'key' alone, not with '" + member.label() + "': "
							+ takes(operation);
				}
			}
		}
		if ((seen & EXPIRIES) == EXPIRIES) {
			return "record members 'ttl' and 'expireAt' are two expiries: " + operation + " takes one of them";
		}
		boolean hasKey = (seen & JsonMember.KEY.bit()) != 0;
		if (this == COMMAND) {
			return (hasKey) ? notAllowed(operation, JsonMember.KEY) : null;
		}
		if (!hasKey) {
			return "record member 'key' is missing: " + takes(operation);
		}
		if (this.required != null && (seen & (this.required.bit() | JsonMember.ARGS.bit())) == 0) {
			return "record member '" + this.required.label() + "' is missing: " + takes(operation);
		}
		return null;
	}

	private String notAllowed(Operation operation, JsonMember member) {
		return "record member '" + member.label() + "' does not go with " + operation + ": " + takes(operation);
	}

	private String takes(Operation operation) {
		return operation + " takes " + this.takes;
	}

}
