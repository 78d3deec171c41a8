package io.pipeset.record.mapping;

import java.util.Locale;

/** The meaning of a null where a record needs a value. */
public enum Nulls {

	/** The record is refused. */
	REFUSE,

	/** The field, or the expiry, is left out. */
	SKIP,

	/** It is the empty string. */
	EMPTY,

	/** For SET: the record is a DEL of its key. */
	DELETE;

	/** Why a null among arguments is refused whatever nulls mean elsewhere. */
	public static final String IN_ARGUMENTS = "; 'nulls' is not for arguments, because those after a null would move:"
			+ " put them into a group";

	private final String label = name().toLowerCase(Locale.ROOT);

	/** The word for it in settings and reports. */
	public String label() {
		return this.label;
	}

}
