package io.pipeset.job;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.stereotype.Component;

/** What the service is doing right now: {@code /actuator/pipeset}. */
@Component
@Endpoint(id = "pipeset")
class PipesetEndpoint {

	private final Jobs jobs;

	private final LaneCapacity capacity;

	PipesetEndpoint(Jobs jobs, LaneCapacity capacity) {
		this.jobs = jobs;
		this.capacity = capacity;
	}

	@ReadOperation
	Snapshot snapshot() {
		return new Snapshot(this.jobs.running(), this.capacity.waiting(),
				new Snapshot.Lanes(this.capacity.busy(), this.capacity.connections()), this.capacity.inFlightBytes());
	}

	/**
	 * The service at one moment.
	 *
	 * @param jobsRunning jobs that have begun and not ended
	 * @param jobsWaiting those of them that wait for a connection
	 * @param lanes the connections of all jobs
	 * @param inFlightBytes commands between their slab's hand-over and its last reply
	 */
	record Snapshot(int jobsRunning, int jobsWaiting, Lanes lanes, long inFlightBytes) {

		/**
		 * The connections of all jobs.
		 *
		 * @param busy how many are in use
		 * @param most how many there may be
		 */
		record Lanes(int busy, int most) {

		}

	}

}
