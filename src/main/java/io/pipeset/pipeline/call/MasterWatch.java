package io.pipeset.pipeline.call;

/**
 * Knows which server is master. As soon as another server becomes master, connections to
 * the former one are closed.
 */
public interface MasterWatch {

	/** The master's host and port, for messages. */
	String address();

	/**
	 * Whether any server is known to be the master.
	 * @return {@code false} while no Sentinel has named one, so that no server was asked
	 * for a connection
	 */
	default boolean isKnown() {
		return true;
	}

	/** How often another server has become master since the service began. */
	int switches();

	/**
	 * Whether another server can become master at all.
	 * @return {@code false} for a server that has its address for good
	 */
	boolean isFollowing();

	/**
	 * Looks which server is master now. When this returns, nothing more is written to a
	 * server that is known to be a former master.
	 */
	void look();

	/**
	 * The watch of a server that has its address for good.
	 * @return a watch that never sees a change
	 */
	static MasterWatch of(String address) {
		return new MasterWatch() {

			@Override
			public String address() {
				return address;
			}

			@Override
			public int switches() {
				return 0;
			}

			@Override
			public boolean isFollowing() {
				return false;
			}

			@Override
			public void look() {
				// Nothing can have changed.
			}

		};
	}

}
