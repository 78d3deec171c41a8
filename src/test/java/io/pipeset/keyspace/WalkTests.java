package io.pipeset.keyspace;

import io.pipeset.keyspace.Walk.Continuation;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A walk goes on only in the life of the server whose cursor it has. */
class WalkTests {

	private final Walk walk = new Walk();

	private final long before = System.nanoTime();

	@Test
	void aWalkGoesOnInTheSameLifeAndBeginsAnewInAnother() {
		assertThat(this.walk.resume("a", false, this.before)).isEqualTo(Continuation.GOES_ON);
		this.walk.counted("5", 1);
		this.walk.lost();
		assertThat(this.walk.resume("a", false, System.nanoTime())).isEqualTo(Continuation.GOES_ON);
		assertThat(this.walk.resume("b", false, System.nanoTime())).isEqualTo(Continuation.ANEW);
	}

	@Test
	void aServerThatIsBusyIsAskedForItsLifeAgain() {
		this.walk.resume("a", false, this.before);
		this.walk.counted("5", 1);
		this.walk.lost();
		assertThat(this.walk.resume(null, true, System.nanoTime())).isEqualTo(Continuation.NOT_YET);
		assertThat(this.walk.resume("a", false, System.nanoTime())).isEqualTo(Continuation.GOES_ON);
	}

	@Test
	void aServerThatTellsItsLifeNoMoreCountsAsAnother() {
		this.walk.resume("a", false, this.before);
		this.walk.counted("5", 1);
		this.walk.lost();
		assertThat(this.walk.resume(null, false, System.nanoTime())).isEqualTo(Continuation.ANEW);
	}

	@Test
	void aWalkWithoutAPageNeedsNoLife() {
		this.walk.resume("a", false, this.before);
		this.walk.lost();
		assertThat(this.walk.resume(null, true, System.nanoTime())).isEqualTo(Continuation.GOES_ON);
		this.walk.counted("5", 1);
		this.walk.leaves();
		assertThat(this.walk.resume(null, false, this.before)).isEqualTo(Continuation.GOES_ON);
		assertThat(this.walk.resume(null, false, System.nanoTime())).isEqualTo(Continuation.ANEW);
	}

	@Test
	void aConnectionThatWasOpenBeforeIsToTheSameLife() {
		this.walk.resume("a", false, this.before);
		this.walk.counted("5", 1);
		this.walk.leaves();
		assertThat(this.walk.resume(null, false, this.before)).isEqualTo(Continuation.GOES_ON);
		this.walk.leaves();
		assertThat(this.walk.resume("b", false, System.nanoTime())).isEqualTo(Continuation.ANEW);
	}

}
