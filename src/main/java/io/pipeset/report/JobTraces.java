package io.pipeset.report;

import java.util.List;

import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.Observation;
import io.micrometer.observation.Observation.Context;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationHandler.FirstMatchingCompositeObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.stereotype.Component;

/**
 * The observations of jobs, for tracing: one for each job and each of its batches, and
 * none for a command. If nothing takes them, none is made. Meters do not: a job has its
 * {@link JobMeters}.
 */
@Component
public class JobTraces {

	private static final Logger logger = LoggerFactory.getLogger(JobTraces.class);

	private final ObservationRegistry registry;

	JobTraces(ObjectProvider<ObservationHandler<?>> handlers) {
		List<ObservationHandler<?>> takers = handlers.orderedStream()
			.filter((handler) -> !(handler instanceof MeterObservationHandler))
			.<ObservationHandler<?>>map(Careful::new)
			.toList();
		this.registry = (takers.isEmpty()) ? ObservationRegistry.NOOP : ObservationRegistry.create();
		if (!takers.isEmpty()) {
			this.registry.observationConfig().observationHandler(new FirstMatchingCompositeObservationHandler(takers));
		}
	}

	/**
	 * A job begins, perhaps in the course of a request.
	 * @param operation the operation its records have by default, or {@code mixed}
	 * @return to be stopped when the job ends
	 */
	public Observation job(String id, String client, String operation) {
		Observation job = Observation.createNotStarted("pipeset.job", this.registry);
		if (job.isNoop()) {
			return job;
		}
		return job.contextualName("job " + operation)
			.lowCardinalityKeyValue("client", client)
			.lowCardinalityKeyValue("op", operation)
			.highCardinalityKeyValue("jobId", id)
			.start();
	}

	/** A job has ended. */
	public static void end(Observation job, JobState state, Counts counts) {
		if (!job.isNoop()) {
			job.lowCardinalityKeyValue("state", state.label())
				.highCardinalityKeyValue("received", Long.toString(counts.received()))
				.highCardinalityKeyValue("applied", Long.toString(counts.applied()));
		}
	}

	/**
	 * A batch begins.
	 * @param job the job that it is of
	 * @param node the host and port of its server
	 * @param flush the kind of its flush
	 * @return to be stopped when the batch ends
	 */
	public static Observation batch(Observation job, String node, String flush) {
		if (job.isNoop()) {
			return Observation.NOOP;
		}
		return Observation.createNotStarted("pipeset.batch", job.getObservationRegistry())
			.parentObservation(job)
			.contextualName("batch")
			.lowCardinalityKeyValue("node", node)
			.lowCardinalityKeyValue("flush", flush)
			.start();
	}

	/**
	 * A taker whose failures are not those of the job: its records have run, and its
	 * connections have to be ended in order.
	 */
	private static final class Careful implements ObservationHandler<Context> {

		private final ObservationHandler<Context> taker;

		@SuppressWarnings("unchecked")
		private Careful(ObservationHandler<?> taker) {
			this.taker = (ObservationHandler<Context>) taker;
		}

		@Override
		public boolean supportsContext(Context context) {
			return this.taker.supportsContext(context);
		}

		@Override
		public void onStart(Context context) {
			attempt(() -> this.taker.onStart(context));
		}

		@Override
		public void onError(Context context) {
			attempt(() -> this.taker.onError(context));
		}

		@Override
		public void onStop(Context context) {
			attempt(() -> this.taker.onStop(context));
		}

		private void attempt(Runnable call) {
			try {
				call.run();
			}
			catch (RuntimeException ex) {
				logger.warn("{} failed, and has no whole trace of a job: {}", this.taker.getClass().getName(),
						ex.toString());
			}
		}

	}

}
