package io.pipeset.engine.script;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.ScriptRefusedException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Script;
import org.jspecify.annotations.Nullable;

/**
 * The scripts that records may run, if their client may run scripts. Redis keeps them.
 * The texts of those used last are kept here as well, for as long as the service runs, so
 * that a script can be loaded again into a Redis that has forgotten it.
 */
public class Scripts {

	/** Why scripts may not run, for the caller to read. */
	public static final String FORBIDDEN = "Scripts are not allowed here, as they can do to any key what the service"
			+ " may: pipeset.security.scripts=true allows them to everybody who may call it";

	private final ScriptProperties properties;

	private final RedisNodes nodes;

	private final Map<String, Script> byLastUse;

	private volatile @Nullable Script last;

	public Scripts(ScriptProperties properties, RedisNodes nodes) {
		this.properties = properties;
		this.nodes = nodes;
		this.byLastUse = new LinkedHashMap<>(16, 0.75f, true) {

			@Override
			protected boolean removeEldestEntry(Map.Entry<String, Script> eldest) {
				return size() > properties.maxCount();
			}

		};
	}

	/** The largest script. */
	public int maxBytes() {
		return (int) this.properties.maxBytes().toBytes();
	}

	/**
	 * Loads a script, in a cluster into every master, and keeps it.
	 * @return the SHA1 by which records run it
	 * @throws ScriptRefusedException if Redis refuses it
	 * @throws NoConnectionException if Redis is not there
	 */
	public String load(byte[] text) throws ScriptRefusedException, NoConnectionException {
		Script script = Script.of(text);
		for (RedisNode node : this.nodes.masters()) {
			node.calls().load(script);
		}
		synchronized (this.byLastUse) {
			this.byLastUse.putIfAbsent(script.sha(), script);
		}
		return script.sha();
	}

	/**
	 * Gives a record that runs a script its text. A script whose text is not known here
	 * may well be known to Redis.
	 * @param record a record that is good so far
	 */
	public void admit(Record record) {
		if (record.operation() != Operation.EVALSHA) {
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
