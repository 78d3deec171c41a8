package io.pipeset.web.access;

import java.io.Serial;
import java.net.InetAddress;

import org.jspecify.annotations.Nullable;

/**
 * The service is to listen at an address that other machines reach, and no property
 * allows that.
 */
final class ExposedAddressException extends IllegalStateException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String property;

	/**
	 * An exception.
	 * @param property the property that says where to listen
	 * @param address its value, or {@code null} where it has none
	 */
	ExposedAddressException(String property, @Nullable InetAddress address) {
		super(property
				+ ((address != null) ? " is " + address.getHostAddress()
						: " is not set, which stands for every address of this machine")
				+ ", where others reach the service: callers have no credentials, and whoever reaches it can write to"
				+ " Redis and empty its lists.");
		this.property = property;
	}

	String remedy() {
		return "Set " + this.property + "=127.0.0.1, or pipeset.security.anonymous=true where everybody who reaches"
				+ " the port may do that.";
	}

}
