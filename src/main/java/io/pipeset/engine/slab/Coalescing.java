package io.pipeset.engine.slab;

/**
 * The coalesced commands that a connection's server and user allow.
 *
 * @param severalKeys whether one command may have several keys. This is not allowed in a
 * cluster. It is not allowed for a user who may be restricted to some keys either,
 * because Redis would refuse all records for one key.
 * @param countedPops whether pops may take a count, as in Redis 6.2 and later
 * @param sets whether SETs without options go as MSET; only if one command may have
 * several keys
 * @param expiringSets whether SETs with the same expiry go as MSETEX; only if one command
 * may have several keys
 */
public record Coalescing(boolean severalKeys, boolean countedPops, boolean sets, boolean expiringSets) {

	public Coalescing {
		sets &= severalKeys;
		expiringSets &= severalKeys;
	}

	/**
	 * The coalesced commands of a server without MSETEX.
	 * @param severalKeys whether one command may have several keys
	 * @param countedPops whether pops may take a count
	 */
	public Coalescing(boolean severalKeys, boolean countedPops) {
		this(severalKeys, countedPops, severalKeys, false);
	}

	/**
	 * The coalesced commands for a cluster node. While a slot moves, Redis refuses a
	 * command of several keys if some of the keys have left. It still runs later records
	 * of the other keys, so the refused records could not be sent again. Sent one by one,
	 * each of them would have run.
	 * @return coalesced commands of one key each
	 */
	public Coalescing inCluster() {
		return new Coalescing(false, this.countedPops);
	}

}
