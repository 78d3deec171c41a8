package io.pipeset.job;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Places that all clients share, so that none of them takes those of all others. */
public final class ClientPermits {

	private final int all;

	private final String users;

	private final String bound;

	private final Semaphore free;

	private final Map<String, Semaphore> placesOf = new ConcurrentHashMap<>();

	/**
	 * Makes places, all of them free.
	 * @param users those who take them, for messages: "streams of events"
	 * @param bound what allows so many, for messages: "pipeset.limits.x=8 allows"
	 */
	public ClientPermits(int all, String users, String bound) {
		this.all = all;
		this.users = users;
		this.bound = bound;
		this.free = new Semaphore(all);
	}

	/** Takes a place, or answers {@code false} if none is free. */
	public boolean tryTake(Client client) {
		Semaphore own = own(client);
		boolean may = own.tryAcquire();
		boolean taken = may && this.free.tryAcquire();
		if (may && !taken) {
			own.release();
		}
		return taken;
	}

	/**
	 * Takes a place, for which it waits.
	 * @param millis the longest wait for one of the client's, and then for one of all
	 * @return {@code false} if none has become free
	 * @throws InterruptedException if the thread is interrupted while it waits
	 */
	public boolean tryTake(Client client, long millis) throws InterruptedException {
		Semaphore own = own(client);
		boolean taken = false;
		if (own.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
			try {
				taken = this.free.tryAcquire(millis, TimeUnit.MILLISECONDS);
			}
			finally {
				if (!taken) {
					own.release();
				}
			}
		}
		return taken;
	}

	/** Why a client has found no place, to begin a message with. */
	public String refusal(Client client) {
		int share = client.share(this.all);
		return (share < this.all && own(client).availablePermits() == 0)
				? "The client '" + client + "' has " + share + " of " + this.all + ' ' + this.users
						+ ", and leaves the others to other clients"
				: "There are " + this.all + ' ' + this.users + ", as many as " + this.bound;
	}

	/** Gives a place back that a client has taken. */
	public void leave(Client client) {
		this.free.release();
		own(client).release();
	}

	/** Whether no client would find a place now. */
	public boolean areTaken() {
		return this.free.availablePermits() == 0;
	}

	private Semaphore own(Client client) {
		return this.placesOf.computeIfAbsent(client.name(), (name) -> new Semaphore(client.share(this.all)));
	}

}
