package io.pipeset.web.fault;

import java.time.Duration;

import io.lettuce.core.KillArgs;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;

import static org.awaitility.Awaitility.await;

/**
 * The kinds of trouble in a run of the campaign. While trouble strikes, the connection
 * that has come to the place is stopped there.
 */
enum FaultTrouble {

	NONE {
		@Override
		boolean hasPlace() {
			return false;
		}
	},

	RESET {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			link.reset();
		}
	},

	/** Redis runs all bytes that were forwarded before it closes its side. */
	END {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			link.end();
		}
	},

	RESET_ALL {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			proxy.resetAll();
		}
	},

	/**
	 * All connections are silent until a health check has given one of them up, and then
	 * go on. No job may take the late answer for one of its own.
	 */
	STALL {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			proxy.stopAll();
		}
	},

	/** One connection is silent in one direction. */
	HANG {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			// The connection is stopped already, and stays so.
		}
	},

	/** One connection is silent in both directions. */
	HANG_BOTH_WAYS {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			link.stop();
		}
	},

	/** All connections are silent, also new ones. */
	HANG_ALL {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			proxy.stopAll();
		}
	},

	SLOW {
		@Override
		boolean hasPlace() {
			return false;
		}

		@Override
		void prepare(TestRedis redis, FaultProxy proxy, int bytes) {
			proxy.slow(Math.max(100, bytes / 200));
		}
	},

	LATE {
		@Override
		boolean hasPlace() {
			return false;
		}

		@Override
		void prepare(TestRedis redis, FaultProxy proxy, int bytes) {
			proxy.delay(Duration.ofMillis(3));
		}
	},

	/**
	 * Redis is killed. Commands that were answered survive the restart, because the
	 * campaign's Redis writes them to its file before it answers (appendfsync always). A
	 * Redis without that may lose commands that are reported as applied, which no client
	 * can know.
	 */
	KILL {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			redis.kill();
			link.goOn();
		}

		@Override
		void heal(TestRedis redis) {
			redis.restart();
		}
	},

	KILL_AND_RESTART {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			redis.restart();
			link.goOn();
		}
	},

	PAUSE {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			redis.pause();
			link.goOn();
		}

		@Override
		void heal(TestRedis redis) {
			redis.resume();
		}
	},

	CLIENT_PAUSE {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			redis.client().clientPause(600);
			link.goOn();
		}
	},

	READ_ONLY {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			redis.client().replicaof("127.0.0.1", 1);
			link.goOn();
		}

		@Override
		void heal(TestRedis redis) {
			redis.client().replicaofNoOne();
		}
	},

	OUT_OF_MEMORY {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			redis.client().configSet("maxmemory", "1");
			link.goOn();
		}

		@Override
		void heal(TestRedis redis) {
			redis.client().configSet("maxmemory", "0");
		}
	},

	QUERY_BUFFER {
		@Override
		boolean hasPlace() {
			return false;
		}

		@Override
		void prepare(TestRedis redis, FaultProxy proxy, int bytes) {
			redis.client().configSet("client-query-buffer-limit", "1mb");
		}

		@Override
		void heal(TestRedis redis) {
			redis.client().configSet("client-query-buffer-limit", "1gb");
		}
	},

	/** Redis kills all connections, also those of health checks and receipts. */
	CLIENT_KILL {
		@Override
		void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
			redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
			link.goOn();
		}
	};

	/** Whether the trouble strikes at a place, and not from the start. */
	boolean hasPlace() {
		return true;
	}

	/** Whether only a timeout reveals the trouble. */
	boolean isSilent() {
		return this == HANG || this == HANG_BOTH_WAYS || this == HANG_ALL || this == PAUSE || this == CLIENT_PAUSE;
	}

	/** Whether every record must run in spite of the trouble. */
	boolean isHarmless() {
		return this == NONE || this == SLOW || this == LATE;
	}

	/** Whether Redis refuses all commands that write. */
	boolean isRefusal() {
		return this == READ_ONLY || this == OUT_OF_MEMORY;
	}

	void prepare(TestRedis redis, FaultProxy proxy, int bytes) {
		// Most troubles strike later.
	}

	void strike(TestRedis redis, FaultProxy proxy, ProxyLink link) {
		throw new IllegalStateException(this + " has no place");
	}

	void heal(TestRedis redis) {
		// Most troubles leave nothing behind.
	}

	final void end(TestRedis redis, FaultProxy proxy) {
		heal(redis);
		await().ignoreExceptions().until(() -> redis.client().ping().equals("PONG"));
		proxy.heal();
	}

}
