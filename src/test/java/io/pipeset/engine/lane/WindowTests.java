package io.pipeset.engine.lane;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.slab.Slab;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A lane has no more commands and bytes in flight than its window allows, and releases
 * all of them in the end.
 */
class WindowTests {

	private final MapConfigurationPropertySource properties = new MapConfigurationPropertySource();

	private long maxInFlightBytes = 32 << 20;

	@Test
	void theReaderWaitsUntilTheFullWindowHasSpace() throws Exception {
		this.properties.put("pipeset.pipeline.window-commands", "2");
		InFlightBytes inFlight = inFlight();
		Window window = window(inFlight);
		Slab first = fill(window);
		Slab second = fill(window);
		CompletableFuture<Slab> third = take(window);
		window.remove(first);
		assertThat(third).as("a slab that is being settled is no room yet").isNotDone();
		window.recycle(first);
		assertThat(third.get(1, TimeUnit.MINUTES)).isSameAs(first);
		window.remove(second);
		assertThat(inFlight.now()).isZero();
	}

	@Test
	void twoSlabsMayAlwaysBeInFlight() {
		this.maxInFlightBytes = 1;
		this.properties.put("pipeset.pipeline.window-commands", "1");
		InFlightBytes inFlight = inFlight();
		Window window = window(inFlight);
		fill(window);
		assertThat(inFlight.now()).isGreaterThan(this.maxInFlightBytes);
		fill(window);
		assertThat(take(window)).as("a third slab").isNotDone();
		window.removeLimit();
	}

	@Test
	void removeLimitUnblocksTheReaderAndCloseReleasesAllBytes() throws Exception {
		this.properties.put("pipeset.pipeline.window-commands", "1");
		InFlightBytes inFlight = inFlight();
		Window window = window(inFlight);
		fill(window);
		fill(window);
		assertThat(inFlight.now()).isPositive();
		CompletableFuture<Slab> third = take(window);
		window.removeLimit();
		third.get(1, TimeUnit.MINUTES);
		window.close();
		assertThat(inFlight.now()).isZero();
	}

	private CompletableFuture<Slab> take(Window window) {
		CompletableFuture<Slab> taken = new CompletableFuture<>();
		Thread thread = new Thread(() -> taken.complete(window.take(false, false)));
		thread.setDaemon(true);
		thread.start();
		await().until(() -> thread.getState() == Thread.State.WAITING);
		return taken;
	}

	private static Slab fill(Window window) {
		Slab slab = window.take(false, false);
		Record record = new Record();
		record.begin(0);
		record.operation(Operation.SET);
		byte[] bytes = "key".getBytes(StandardCharsets.UTF_8);
		record.argument(bytes, 0, bytes.length);
		record.argument(bytes, 0, bytes.length);
		record.check();
		assertThat(slab.add(record)).isTrue();
		window.add(slab);
		return slab;
	}

	private InFlightBytes inFlight() {
		return new InFlightBytes(this.maxInFlightBytes, new SimpleMeterRegistry());
	}

	private Window window(InFlightBytes inFlight) {
		return new Window(properties(), inFlight, new UnlimitedSlabMemory());
	}

	private PipelineProperties properties() {
		return new Binder(this.properties).bindOrCreate("pipeset.pipeline", PipelineProperties.class);
	}

}
