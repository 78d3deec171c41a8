package io.pipeset.request;

import java.util.Set;

import io.pipeset.record.KeyPrefixes;

/** Clients of a service that has several. */
public final class OneOfSeveralClients {

	private OneOfSeveralClients() {
	}

	/** A client without limits of its own. */
	public static Client named(String name) {
		return new Client(name, null, KeyPrefixes.ANY, UrlPrefixes.ANY, ClientSources.ANY, Set.of(), Client.Limits.NONE,
				true);
	}

}
