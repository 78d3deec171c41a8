package io.pipeset.redis;

import io.lettuce.core.RedisURI;

/**
 * A server that somebody else started. Tests may use and flush it, but not stop it.
 */
final class GivenServer implements RedisServer {

	private final RedisURI uri;

	GivenServer(RedisURI uri) {
		this.uri = uri;
	}

	@Override
	public RedisURI uri() {
		return this.uri;
	}

	@Override
	public void kill() {
		throw notOurs();
	}

	@Override
	public void pause() {
		throw notOurs();
	}

	@Override
	public void resume() {
		throw notOurs();
	}

	@Override
	public void restart() {
		throw notOurs();
	}

	@Override
	public void close() {
		// The server is not ours to end.
	}

	private static UnsupportedOperationException notOurs() {
		return new UnsupportedOperationException(
				"This Redis was given by " + RedisSource.URL_VARIABLE + "; use TestRedis.start() for one to stop");
	}

}
