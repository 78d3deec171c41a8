package io.pipeset.sweep;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.call.KeyFilter;
import io.pipeset.pipeline.call.ScanPage;
import io.pipeset.pipeline.call.ScanPlace;

/**
 * The keys of one server, a page at a time. A page is asked for by a single call, which
 * holds no permit of a lane, in a thread of its own.
 */
final class NodeScan {

	/** The memory of a page's keys, unless a single place in Redis has more of them. */
	static final long PAGE_BYTES = 128 << 10;

	/**
	 * How many keys Redis looks at in one call, for which all other clients wait: half a
	 * millisecond or less. More keys a call make a sweep no faster.
	 */
	private static final int MOST_KEYS = 500;

	private final RedisNode node;

	private final KeyFilter filter;

	private final PatientCalls calls;

	private final BooleanSupplier isReplaced;

	/** The page that was asked for last; taken as soon as it is there. */
	private volatile CompletableFuture<Optional<ScanPage>> page = CompletableFuture.completedFuture(Optional.empty());

	/** The place behind the last page that was taken. */
	private ScanPlace place = ScanPlace.START;

	/** How many keys to ask for: fewer while keys are long. */
	private int count = MOST_KEYS;

	/**
	 * A scan that begins with the server's first key.
	 * @param calls asks the server, for this scan alone
	 * @param isReplaced whether another server has taken the place of this one, asked
	 * where it cannot be reached
	 */
	NodeScan(RedisNode node, KeyFilter filter, PatientCalls calls, BooleanSupplier isReplaced) {
		this.node = node;
		this.filter = filter;
		this.calls = calls;
		this.isReplaced = isReplaced;
	}

	RedisNode node() {
		return this.node;
	}

	/** Asks for the next page. */
	void ask(Executor executor) {
		this.page = CompletableFuture.supplyAsync(this::fetch, executor);
	}

	CompletableFuture<Optional<ScanPage>> page() {
		return this.page;
	}

	/**
	 * Takes the page that is there.
	 * @return the page; empty if there will be none, as the job is stopped or the server
	 * was replaced
	 */
	Optional<ScanPage> take() {
		Optional<ScanPage> taken = this.page.join();
		taken.ifPresent((page) -> this.place = page.next());
		return taken;
	}

	/** Whether the page that was taken last had the server's last keys. */
	boolean isFinished() {
		return this.place.isAtAnEnd();
	}

	/** The job is stopped: nobody waits for a page any longer. */
	void wake() {
		this.page.complete(Optional.empty());
	}

	/** Asks for fewer keys if a page is too large. Only one thread does so. */
	private Optional<ScanPage> fetch() {
		while (true) {
			long most = (this.count == 1) ? Long.MAX_VALUE : PAGE_BYTES;
			Optional<ScanPage> answer = this.calls.make("SCAN",
					() -> this.node.calls().scan(this.place, this.filter, this.count, most), this.isReplaced);
			if (answer.isEmpty() || !answer.get().isTooLarge()) {
				boolean small = answer.isPresent() && answer.get().bytes() < PAGE_BYTES / 4;
				this.count = (small) ? Math.min(2 * this.count, MOST_KEYS) : this.count;
				return answer;
			}
			this.count = this.count / 2;
		}
	}

}
