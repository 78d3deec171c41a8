package io.pipeset.job;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;

import org.springframework.stereotype.Component;

/** The scripts that records may run, where they may. */
@Component
public class Scripts {

	private static final String FORBIDDEN = "Scripts are not allowed here: pipeset.security.scripts=true allows them"
			+ " to everybody who may call this service";

	private final boolean allowed;

	Scripts(SecurityProperties security) {
		this.allowed = security.scripts();
	}

	/** Refuses a record that runs a script, where none may. */
	void admit(Record record) {
		if (!this.allowed && record.operation() == Operation.EVALSHA) {
			record.reject(Rejection.FORBIDDEN, FORBIDDEN);
		}
	}

}
