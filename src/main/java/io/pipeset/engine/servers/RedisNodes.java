package io.pipeset.engine.servers;

import java.util.List;
import java.util.function.IntPredicate;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/**
 * The servers that records go to: a single one, the one that Sentinels name, or the
 * masters of a cluster. Without a word to the contrary there is one server only.
 */
public interface RedisNodes extends AutoCloseable {

	/**
	 * The nodes of a service with a single server.
	 * @param node the server; closed with these nodes
	 */
	static RedisNodes of(RedisNode node) {
		return new SingleNode(node);
	}

	/** Whether the servers are a cluster, where each slot has its master. */
	default boolean isCluster() {
		return false;
	}

	/** The database that records are written to; a cluster has one only. */
	default int database() {
		return 0;
	}

	/**
	 * Whether another server may become master while the service runs, and tells so.
	 * @return {@code false} for a server that has its address for good
	 */
	default boolean isFollowing() {
		return false;
	}

	/**
	 * Whether an error says that a command did not run as another server is to run it, or
	 * the same one later.
	 * @param code the first word of the error
	 * @return {@code false} for a single server, whatever it answers
	 */
	default boolean redirects(String code) {
		return false;
	}

	/**
	 * The name of a server that is one of several, by which it is told from the others.
	 * @return host and port, or {@code null} where there is one server only
	 */
	default @Nullable String nameOfOneOfSeveral(RedisNode node) {
		return null;
	}

	/**
	 * Asks a server which slots it has now.
	 * @throws RedisCallException if it refuses to tell or does not answer
	 */
	default SlotsAtNode slotsAt(RedisNode node) {
		return SlotsAtNode.ALL;
	}

	/**
	 * The masters that are known now.
	 * @return the masters, or the single server
	 * @throws NoConnectionException if the service has not heard yet which masters there
	 * are
	 */
	default List<RedisNode> masters() throws NoConnectionException {
		return List.of(owners().ownerOrAny(Slots.NONE));
	}

	/**
	 * The masters of all slots, as far as the service knows; another object as soon as it
	 * knows better.
	 * @throws NoConnectionException if no node of the cluster, or no Sentinel, has
	 * answered yet
	 */
	Topology owners() throws NoConnectionException;

	/**
	 * The masters that were named last, without asking anybody.
	 * @return the masters, or the single server
	 */
	List<RedisNode> named();

	/**
	 * The slots that one of the {@link #named} servers has, as far as the service knows
	 * without asking anybody.
	 * @return their number, or {@code null} where there are no slots, or the cluster has
	 * not named its masters yet
	 */
	default @Nullable Integer slots(RedisNode node) {
		return null;
	}

	/**
	 * The address of the server, or of the servers by which the cluster was named, for
	 * messages.
	 * @return host and port, or several of them
	 */
	String name();

	/**
	 * The remedy for a service that reaches no server.
	 * @return the time until which jobs are refused, and the properties that name another
	 * server: the end of a sentence that begins with "until"
	 */
	String untilReached();

	/**
	 * Looks whether another server is master now, if a look takes a moment only. When
	 * this returns, nothing more is written to a server that is known to be a former
	 * master.
	 */
	default void look() {
		// Nothing can have changed.
	}

	/**
	 * Asks the cluster for its masters, unless it was asked a moment ago. That takes as
	 * long as the slowest of all nodes, replicas among them.
	 */
	default void refresh() {
		look();
	}

	/**
	 * Has the cluster asked for its masters, and goes on without the answer if that takes
	 * longer than a moment: for callers that know enough to go on.
	 */
	default void refreshSoon() {
		refresh();
	}

	/**
	 * Finds a master by the address in a redirection.
	 * @param address host and port
	 * @return the master, or {@code null} where the cluster has named none with that
	 * address
	 */
	default @Nullable RedisNode find(String address) {
		return null;
	}

	/**
	 * Finds the master that a redirection leads to, and asks the cluster for its masters
	 * if need be.
	 * @param target host and port; a node that does not know or tell its own address
	 * leaves the host out
	 * @param from the node that answered with the redirection
	 * @return the master, or {@code null} where the cluster itself names none with that
	 * address
	 */
	default @Nullable RedisNode target(String target, RedisNode from) {
		String address = (target.lastIndexOf(':') == 0)
				? from.name().substring(0, from.name().lastIndexOf(':')) + target : target;
		RedisNode found = find(address);
		if (found == null) {
			refresh();
			found = find(address);
		}
		return found;
	}

	/** Takes note that a slot has another master, as its former master has said. */
	default void moved(int slot, RedisNode master) {
		throw new IllegalStateException("A single server has all slots");
	}

	/**
	 * Whether other servers than a node are the masters of slots, so that nothing that
	 * the node still runs for these slots is kept.
	 * @param sinceNanos a time of {@link System#nanoTime()}; an answer of the cluster to
	 * an earlier question does not count
	 * @return {@code false} where it is not known
	 */
	default boolean isSuperseded(RedisNode former, IntPredicate slots, long sinceNanos) {
		return former.isReplaced();
	}

	/**
	 * Whether other servers are the masters of all slots, asked anew.
	 * @return {@code false} where it is not known
	 */
	default boolean isReplaced(RedisNode former) {
		refresh();
		try {
			return !owners().isMaster(former);
		}
		catch (NoConnectionException ex) {
			return false;
		}
	}

	/**
	 * How often another server has become master since the service began, as far as it
	 * has heard.
	 */
	default int failovers() {
		return 0;
	}

	@Override
	void close();

}
