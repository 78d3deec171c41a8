package io.pipeset.redis;

import io.lettuce.core.RedisURI;

/**
 * One server the tests talk to, wherever it runs.
 */
interface RedisServer extends AutoCloseable {

	/**
	 * Where it is, with its credentials; the same over restarts.
	 */
	RedisURI uri();

	/**
	 * Kills it (SIGKILL). Returns when it is gone.
	 */
	void kill();

	/**
	 * Stops it in its tracks (SIGSTOP): its connections stay open and nothing answers.
	 */
	void pause();

	/**
	 * Lets it go on after a pause (SIGCONT).
	 */
	void resume();

	/**
	 * Kills it if it is running and starts it again at the same address.
	 */
	void restart();

	@Override
	void close();

}
