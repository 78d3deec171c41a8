package io.pipeset.redis;

import io.lettuce.core.RedisURI;

/**
 * A server that the tests talk to, wherever it runs.
 */
interface RedisServer extends AutoCloseable {

	/**
	 * The server's address and credentials, which stay the same over restarts.
	 */
	RedisURI uri();

	/**
	 * Kills the server (SIGKILL), and waits until it has ended.
	 */
	void kill();

	/**
	 * Pauses the server (SIGSTOP): its connections stay open, and it answers nothing.
	 */
	void pause();

	/**
	 * Lets the server go on after a pause (SIGCONT).
	 */
	void resume();

	/**
	 * Kills the server if it is running, and starts it again at the same address.
	 */
	void restart();

	@Override
	void close();

}
