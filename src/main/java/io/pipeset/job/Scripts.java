package io.pipeset.job;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import io.pipeset.pipeline.NoConnectionException;
import io.pipeset.pipeline.RedisCalls;
import io.pipeset.pipeline.ScriptRefusedException;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.Script;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * The scripts that records may run, where they may. They are Redis's own to keep; their
 * text is kept here too, for as long as the service runs and they are among those used
 * last, so that they can be loaded again into a Redis that has forgotten them.
 */
@Component
public class Scripts {

	/** Why scripts may not run, for the caller to read. */
	public static final String FORBIDDEN = "Scripts are not allowed here, as they can do to any key what the service"
			+ " may: pipeset.security.scripts=true allows them to everybody who may call it";

	private final boolean allowed;

	private final ScriptProperties properties;

	private final RedisCalls calls;

	private final Map<String, Script> byLastUse;

	private volatile @Nullable Script last;

	Scripts(SecurityProperties security, ScriptProperties properties, RedisCalls calls) {
		this.allowed = security.scripts();
		this.properties = properties;
		this.calls = calls;
		this.byLastUse = new LinkedHashMap<>(16, 0.75f, true) {

			@Override
			protected boolean removeEldestEntry(Map.Entry<String, Script> eldest) {
				return size() > properties.maxCount();
			}

		};
	}

	/**
	 * Whether scripts may be loaded and run.
	 * @return {@code false} unless the configuration says so
	 */
	public boolean areAllowed() {
		return this.allowed;
	}

	/**
	 * The largest script.
	 * @return its size in bytes
	 */
	public int maxBytes() {
		return (int) this.properties.maxBytes().toBytes();
	}

	/**
	 * Loads a script, and keeps it.
	 * @param text its Lua
	 * @return the SHA1 by which records run it
	 * @throws ScriptRefusedException if Redis refuses it
	 * @throws NoConnectionException if Redis is not there
	 */
	public String load(byte[] text) throws ScriptRefusedException, NoConnectionException {
		Script script = Script.of(text);
		this.calls.load(script);
		synchronized (this.byLastUse) {
			this.byLastUse.putIfAbsent(script.sha(), script);
		}
		return script.sha();
	}

	/**
	 * Names the script to a record that runs one, or refuses it where none may run. One
	 * that is not known here may well be known to Redis.
	 */
	void admit(Record record) {
		if (record.operation() != Operation.EVALSHA) {
			return;
		}
		if (!this.allowed) {
			record.reject(Rejection.FORBIDDEN, FORBIDDEN);
			return;
		}
		Script script = this.last;
		if (script == null || !script.isRunBy(record)) {
			script = find(record.text(0).toLowerCase(Locale.ROOT));
		}
		if (script != null) {
			this.last = script;
			record.script(script);
		}
	}

	private @Nullable Script find(String sha) {
		synchronized (this.byLastUse) {
			return this.byLastUse.get(sha);
		}
	}

}
