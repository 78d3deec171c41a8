package io.pipeset.servers;

import java.util.List;
import java.util.function.IntPredicate;

import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.call.MasterWatch;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.call.RedisCallException;
import org.jspecify.annotations.Nullable;

/** The servers that records go to: a single one, or the masters of a cluster. */
public interface RedisNodes extends AutoCloseable {

	/**
	 * The nodes of a service with a single server.
	 * @param node the server; closed with these nodes
	 */
	static RedisNodes of(RedisNode node) {
		return new SingleNode(node);
	}

	/** Whether the servers are a cluster, where each slot has its master. */
	boolean isCluster();

	/**
	 * Whether another server may become master while the service runs, and tells so.
	 * @return {@code false} for a server that has its address for good
	 */
	default boolean isFollowing() {
		return watch().isFollowing();
	}

	/**
	 * Whether an error says that a command did not run as another server is to run it, or
	 * the same one later.
	 * @param code the first word of the error
	 * @return {@code false} for a single server, whatever it answers
	 */
	boolean redirects(String code);

	/**
	 * The name of a server that is one of several, by which it is told from the others.
	 * @return host and port, or {@code null} where there is one server only
	 */
	default @Nullable String nameOfOneOfSeveral(RedisNode node) {
		return (isCluster()) ? node.name() : null;
	}

	/**
	 * Asks a server which slots it has now.
	 * @throws RedisCallException if it refuses to tell or does not answer
	 */
	SlotsAtNode slotsAt(RedisNode node);

	/**
	 * The single server.
	 * @throws IllegalStateException in a cluster, where nobody can do with one server
	 */
	RedisNode single();

	/**
	 * The masters that are known now.
	 * @return the masters, or the single server
	 * @throws NoConnectionException if the service has not heard yet which masters there
	 * are
	 */
	List<RedisNode> masters() throws NoConnectionException;

	/**
	 * The masters of all slots, as far as the service knows; another object as soon as it
	 * knows better.
	 * @throws NoConnectionException if no node of the cluster has answered yet
	 */
	Topology owners() throws NoConnectionException;

	/**
	 * The masters that were named last, without asking anybody.
	 * @return the masters, or the single server
	 */
	List<RedisNode> named();

	/**
	 * The address of the server, or of the servers by which the cluster was named, for
	 * messages.
	 * @return host and port, or several of them
	 */
	String name();

	/**
	 * Asks the cluster for its masters, unless it was asked a moment ago. That takes as
	 * long as the slowest of all nodes, replicas among them.
	 */
	void refresh();

	/**
	 * Has the cluster asked for its masters, and goes on without the answer if that takes
	 * longer than a moment: for callers that know enough to go on.
	 */
	void refreshSoon();

	/**
	 * Finds a master by the address in a redirection.
	 * @param address host and port
	 * @return the master, or {@code null} where the cluster has named none with that
	 * address
	 */
	@Nullable RedisNode find(String address);

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
	void moved(int slot, RedisNode master);

	/**
	 * Whether the cluster names other servers than a node as the masters of slots, so
	 * that nothing that the node still runs for these slots is kept.
	 * @param sinceNanos a time of {@link System#nanoTime()}; what the cluster was asked
	 * before does not count
	 * @return {@code false} where it is not known
	 */
	boolean isSuperseded(RedisNode former, IntPredicate slots, long sinceNanos);

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
		return watch().switches();
	}

	/**
	 * Knows which server is the single one now, where Sentinels name it.
	 * @return a watch; that of a cluster never sees a change, since each of its nodes is
	 * told apart
	 */
	default MasterWatch watch() {
		return MasterWatch.of(name());
	}

	@Override
	void close();

}
