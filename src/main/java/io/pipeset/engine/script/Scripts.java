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
 * The scripts that records may run, if their client may run scripts. Redis stores them.
 * The service also keeps the texts of the most recently used ones in memory. So it can
 * load a script again if Redis has forgotten it.
 */
public class Scripts {

	/** The message for callers when scripts are not allowed. */
	public static final String FORBIDDEN = "Scripts are not allowed here, because they can do to any key what the service"
			+ " may do: pipeset.security.scripts=true allows them to every caller";

	private final ScriptProperties properties;

	private final RedisNodes nodes;

	private final Map<String, Script> byLastUse;

	private volatile @Nullable Script lastUsed;

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

	/** The size of the largest script, in bytes. */
	public int maxBytes() {
		return (int) this.properties.maxBytes().toBytes();
	}

	/**
	 * Loads a script, in a cluster into every master, and keeps its text.
	 * @return the SHA1 with which records run the script
	 * @throws ScriptRefusedException if Redis refuses it
	 * @throws NoConnectionException if Redis cannot be reached
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
	 * Sets the script of a record that runs one. Redis may know a script whose text is
	 * not kept here.
	 * @param record a record that is valid so far
	 */
	public void admit(Record record) {
		if (record.operation() != Operation.EVALSHA) {
			return;
		}
		Script script = this.lastUsed;
		if (script == null || !script.isRunBy(record)) {
			script = find(record.text(0).toLowerCase(Locale.ROOT));
		}
		if (script != null) {
			this.lastUsed = script;
			record.script(script);
		}
	}

	private @Nullable Script find(String sha) {
		synchronized (this.byLastUse) {
			return this.byLastUse.get(sha);
		}
	}

}
