package io.pipeset.web;

import io.pipeset.pipeline.RedisNodes;
import io.pipeset.web.problem.Problems;

import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponseException;

/** Refuses calls that need a single Redis, where there is a cluster. */
@Component
final class SingleRedis {

	private final RedisNodes nodes;

	SingleRedis(RedisNodes nodes) {
		this.nodes = nodes;
	}

	/**
	 * Refuses a call in a cluster.
	 * @param call the call, for the message
	 * @throws ErrorResponseException if there is a cluster
	 */
	void require(String call) {
		if (this.nodes.isCluster()) {
			throw Problems.badRequest("not-available", call + " is not available with a Redis Cluster yet");
		}
	}

}
