package io.pipeset.engine.slab;

/**
 * The common commands that a connection's server and user allow.
 *
 * @param severalKeys whether one command may have several keys; not for a user who may be
 * restricted to some keys, as Redis would refuse all records for one, and not in a
 * cluster
 * @param countedPops whether pops take a count, as they do from Redis 6.2 on
 * @param sets whether SETs without options go as MSET; only if one command may have
 * several keys
 * @param expiringSets whether SETs of one expiry go as MSETEX; only likewise
 */
public record Coalescing(boolean severalKeys, boolean countedPops, boolean sets, boolean expiringSets) {

	public Coalescing {
		sets &= severalKeys;
		expiringSets &= severalKeys;
	}

	/**
	 * The common commands of a server that has no MSETEX.
	 * @param severalKeys whether one command may have several keys
	 * @param countedPops whether pops take a count
	 */
	public Coalescing(boolean severalKeys, boolean countedPops) {
		this(severalKeys, countedPops, severalKeys, false);
	}

	/**
	 * The same for a node of a cluster. While a slot is on its way, Redis refuses a
	 * command of several keys if some of them have left, and runs later records of the
	 * others. The refused records could then not be sent again. By itself, each of them
	 * would have run.
	 * @return common commands of one key each
	 */
	public Coalescing inCluster() {
		return new Coalescing(false, this.countedPops);
	}

}
