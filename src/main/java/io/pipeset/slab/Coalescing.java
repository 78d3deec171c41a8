package io.pipeset.slab;

/**
 * The common commands that a connection's server and user allow.
 *
 * @param severalKeys whether one command may have several keys; not for a user who may be
 * restricted to some keys, as Redis would refuse all records for one
 * @param countedPops whether pops take a count, as they do from Redis 6.2 on
 * @param sets whether SETs without options go as MSET; only if one command may have
 * several keys
 * @param expiringSets whether SETs of one expiry go as MSETEX; only likewise
 * @param oneSlot whether all keys of one command have to be in one slot
 */
public record Coalescing(boolean severalKeys, boolean countedPops, boolean sets, boolean expiringSets,
		boolean oneSlot) {

	public Coalescing {
		sets &= severalKeys;
		expiringSets &= severalKeys;
	}

	/**
	 * The common commands of a single server that has no MSETEX.
	 * @param severalKeys whether one command may have several keys
	 * @param countedPops whether pops take a count
	 */
	public Coalescing(boolean severalKeys, boolean countedPops) {
		this(severalKeys, countedPops, severalKeys, false, false);
	}

	/**
	 * The same for a node of a cluster, where all keys of a command have to be in one
	 * slot.
	 * @return common commands of keys that have a hash tag in common
	 */
	public Coalescing inOneSlot() {
		return new Coalescing(this.severalKeys, this.countedPops, this.sets, this.expiringSets, true);
	}

}
