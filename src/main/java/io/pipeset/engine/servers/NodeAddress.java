package io.pipeset.engine.servers;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

import io.netty.util.NetUtil;
import org.jspecify.annotations.Nullable;

/**
 * The address of a node. A cluster may announce a host name, but redirect to the IP
 * address. It writes IPv6 addresses without brackets.
 *
 * @param host a name or an IP address, without brackets
 */
record NodeAddress(String host, int port) {

	/** Parses an address, whose port follows the last colon. */
	static NodeAddress of(String text) {
		int colon = text.lastIndexOf(':');
		String host = text.substring(0, colon);
		boolean brackets = host.startsWith("[") && host.endsWith("]");
		return new NodeAddress((brackets) ? host.substring(1, host.length() - 1) : host,
				Integer.parseInt(text.substring(colon + 1)));
	}

	/**
	 * Whether a redirection to a target leads to this node. Only the announced host name
	 * is resolved, because a script may have made up the target.
	 */
	boolean isMeantBy(NodeAddress target) {
		if (this.port != target.port) {
			return false;
		}
		InetAddress address = NetUtil.createInetAddressFromIpAddressString(target.host);
		return this.host.equalsIgnoreCase(target.host) || (address != null && addresses().contains(address));
	}

	private List<InetAddress> addresses() {
		@Nullable InetAddress literal = NetUtil.createInetAddressFromIpAddressString(this.host);
		try {
			return (literal != null) ? List.of(literal) : List.of(InetAddress.getAllByName(this.host));
		}
		catch (UnknownHostException ex) {
			return List.of();
		}
	}

}
