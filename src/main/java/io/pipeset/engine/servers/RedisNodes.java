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
 * masters of a cluster. Defaults assume a single server.
 */
public interface RedisNodes extends AutoCloseable {

	/**
	 * Returns the nodes of a service with a single server.
	 * @param node the server; closed with these nodes
	 */
	static RedisNodes of(RedisNode node) {
		return new SingleNode(node);
	}

	/** Whether the servers are a cluster, where each slot has its own master. */
	default boolean isCluster() {
		return false;
	}

	/** The database that records are written to. A cluster has only database 0. */
	default int database() {
		return 0;
	}

	/**
	 * Whether another server may become master while the service runs, and the service is
	 * informed of that.
	 * @return {@code false} for a server with a fixed address
	 */
	default boolean isFollowing() {
		return false;
	}

	/**
	 * Whether an error says that a command did not run, and that another server or a
	 * later attempt can run it.
	 * @param code the first word of the error
	 * @return {@code false} for a single server, whatever the error
	 */
	default boolean redirects(String code) {
		return false;
	}

	/**
	 * The name of a server if it is one of several.
	 * @return host and port, or {@code null} if there is only one server
	 */
	default @Nullable String nameOfOneOfSeveral(RedisNode node) {
		return null;
	}

	/**
	 * Asks a server for its current slots.
	 * @throws RedisCallException if the server refuses the call or does not answer
	 */
	default SlotsAtNode slotsAt(RedisNode node) {
		return SlotsAtNode.ALL;
	}

	/**
	 * The masters that are known now. Queries them if none are known.
	 * @return the masters, or the single server
	 * @throws NoConnectionException if no masters are known yet
	 */
	default List<RedisNode> masters() throws NoConnectionException {
		return List.of(owners().ownerOrAny(Slots.NONE));
	}

	/**
	 * The masters of all slots, as far as the service knows. A change makes it another
	 * object.
	 * @throws NoConnectionException if no node of the cluster, or no Sentinel, has
	 * answered yet
	 */
	Topology owners() throws NoConnectionException;

	/**
	 * The masters that were named last. Makes no query.
	 * @return the masters, or the single server
	 */
	List<RedisNode> named();

	/**
	 * The number of slots of one of the {@link #named} servers, as far as the service
	 * knows. Makes no query.
	 * @return the number, or {@code null} if there are no slots, or the cluster has not
	 * named its masters yet
	 */
	default @Nullable Integer slots(RedisNode node) {
		return null;
	}

	/**
	 * The address of the server, or of the servers in the configuration of the cluster,
	 * for messages.
	 * @return host and port, or several of them
	 */
	String name();

	/**
	 * The remedy if the service reaches no server.
	 * @return when jobs are accepted again, and the properties that name another server;
	 * the end of a sentence that begins with "until"
	 */
	String untilReached();

	/**
	 * Checks whether another server is master now, and waits only briefly for the answer.
	 * After that, nothing more is written to a server that is known to be a former
	 * master.
	 */
	default void look() {
		// A single server is always the master.
	}

	/**
	 * Queries the cluster for its masters, unless it was queried just before. That takes
	 * as long as the slowest node, including replicas.
	 */
	default void refresh() {
		look();
	}

	/**
	 * Starts a query for the masters, and waits for the answer only briefly. For callers
	 * that can continue without it.
	 */
	default void startRefresh() {
		refresh();
	}

	/**
	 * Finds a master by the address in a redirection.
	 * @param address host and port
	 * @return the master, or {@code null} if the cluster has named none with that address
	 */
	default @Nullable RedisNode find(String address) {
		return null;
	}

	/**
	 * Finds the master that a redirection leads to. Queries the cluster if the address is
	 * unknown.
	 * @param target host and port; the host is empty if the answering node does not know
	 * or tell its own address
	 * @param from the node that answered with the redirection
	 * @return the master, or {@code null} if the cluster names none with that address
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

	/** Sets the new master of a slot, as its former master has reported in a MOVED. */
	default void setOwner(int slot, RedisNode master) {
		throw new IllegalStateException("A single server has all slots");
	}

	/**
	 * Whether other servers are now the masters of slots, so that writes of the former
	 * master to these slots are discarded.
	 * @param sinceNanos a time of {@link System#nanoTime()}; answers to earlier queries
	 * do not count
	 * @return {@code false} if that is not known
	 */
	default boolean isSuperseded(RedisNode former, IntPredicate slots, long sinceNanos) {
		return former.isReplaced();
	}

	/**
	 * Whether other servers are the masters of all slots. Queries the masters first.
	 * @return {@code false} if that is not known
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

	/** How many failovers the service has seen since it started. */
	default int failovers() {
		return 0;
	}

	@Override
	void close();

}
