package io.pipeset.engine.pipeline.flush;

import java.util.Objects;

import io.lettuce.core.api.StatefulConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnection.PipeliningFlushPolicy;
import org.springframework.data.redis.connection.lettuce.LettuceConnection.PipeliningFlushState;

/**
 * The connection factory's flush policy, which delegates to the policy of the current
 * thread's job. All jobs share the factory, and it queries the policy before the callback
 * starts. So a policy set on the factory would apply to all jobs, and one set in the
 * callback would come too late.
 */
public final class JobFlushPolicy implements PipeliningFlushPolicy {

	private static final ThreadLocal<OpenPipeline> CURRENT = new ThreadLocal<>();

	/**
	 * Runs a batch with a flush policy.
	 * @param batch opens one pipeline, in the calling thread
	 */
	public void runWith(FlushPolicy policy, Runnable batch) {
		CURRENT.set(new OpenPipeline(policy.toSpring().newPipeline()));
		try {
			batch.run();
		}
		finally {
			CURRENT.remove();
		}
	}

	/** The connection of the pipeline that this thread has opened. */
	public StatefulConnection<?, ?> connection() {
		return Objects.requireNonNull(CURRENT.get().connection, "No pipeline was opened");
	}

	@Override
	public PipeliningFlushState newPipeline() {
		PipeliningFlushState state = CURRENT.get();
		return (state != null) ? state : PipeliningFlushPolicy.flushEachCommand().newPipeline();
	}

	/** The state of a pipeline. It remembers the pipeline's connection. */
	private static final class OpenPipeline implements PipeliningFlushState {

		private final PipeliningFlushState state;

		private @Nullable StatefulConnection<?, ?> connection;

		OpenPipeline(PipeliningFlushState state) {
			this.state = state;
		}

		@Override
		public void onOpen(StatefulConnection<?, ?> connection) {
			this.connection = connection;
			this.state.onOpen(connection);
		}

		@Override
		public void onCommand(StatefulConnection<?, ?> connection) {
			this.state.onCommand(connection);
		}

		@Override
		public void onClose(StatefulConnection<?, ?> connection) {
			this.state.onClose(connection);
		}

	}

}
