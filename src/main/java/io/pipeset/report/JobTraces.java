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
 * The observations of jobs, for tracing: one for each job and one for each batch, none
 * for commands. Without an observation handler for traces, none is created. Handlers for
 * meters are ignored because {@link JobMeters} has the meters.
 */
@Component
public class JobTraces {

	private static final Logger logger = LoggerFactory.getLogger(JobTraces.class);

	private final ObservationRegistry registry;

	JobTraces(ObjectProvider<ObservationHandler<?>> handlers) {
		List<ObservationHandler<?>> tracers = handlers.orderedStream()
			.filter((handler) -> !(handler instanceof MeterObservationHandler))
			.<ObservationHandler<?>>map(FailureTolerantHandler::new)
			.toList();
		this.registry = (tracers.isEmpty()) ? ObservationRegistry.NOOP : ObservationRegistry.create();
		if (!tracers.isEmpty()) {
			this.registry.observationConfig().observationHandler(new FirstMatchingCompositeObservationHandler(tracers));
		}
	}

	/**
	 * Starts the observation of a job, which is a child of the current request's
	 * observation if there is one.
	 * @param operation the default operation of its records, or {@code mixed}
	 * @return the observation, to be stopped when the job ends
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

	/** Adds the result of an ended job to its observation. */
	public static void end(Observation job, JobState state, Counts counts) {
		if (!job.isNoop()) {
			job.lowCardinalityKeyValue("state", state.label())
				.highCardinalityKeyValue("received", Long.toString(counts.received()))
				.highCardinalityKeyValue("applied", Long.toString(counts.applied()));
		}
	}

	/**
	 * Starts the observation of a batch.
	 * @param job the observation of its job
	 * @param node the host and port of its server
	 * @param flush the kind of flush
	 * @return the observation, to be stopped when the batch ends
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
	 * A handler that logs the exceptions of its delegate. The job must not fail with the
	 * delegate: its records have run, and it must return its connections.
	 */
	private static final class FailureTolerantHandler implements ObservationHandler<Context> {

		private final ObservationHandler<Context> delegate;

		@SuppressWarnings("unchecked")
		private FailureTolerantHandler(ObservationHandler<?> delegate) {
			this.delegate = (ObservationHandler<Context>) delegate;
		}

		@Override
		public boolean supportsContext(Context context) {
			return this.delegate.supportsContext(context);
		}

		@Override
		public void onStart(Context context) {
			attempt(() -> this.delegate.onStart(context));
		}

		@Override
		public void onError(Context context) {
			attempt(() -> this.delegate.onError(context));
		}

		@Override
		public void onStop(Context context) {
			attempt(() -> this.delegate.onStop(context));
		}

		private void attempt(Runnable call) {
			try {
				call.run();
			}
			catch (RuntimeException ex) {
				logger.warn("{} failed, so the trace of a job is incomplete: {}", this.delegate.getClass().getName(),
						ex.toString());
			}
		}

	}

}
