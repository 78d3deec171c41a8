package io.pipeset.slab;

/**
 * The common commands that a connection's server and user allow.
 *
 * @param severalKeys whether one command may have several keys; not for a user who may be
 * restricted to some keys, as Redis would refuse all records for one
 * @param countedPops whether pops take a count, as they do from Redis 6.2 on
 */
public record Coalescing(boolean severalKeys, boolean countedPops) {

}
