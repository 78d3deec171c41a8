package io.pipeset.request;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Permits that all clients share. Each client may hold only its {@link Client#share
 * share} of them, so that it cannot take those of all others.
 */
public final class ClientPermits {

	private final int total;

	private final String users;

	private final String bound;

	private final Semaphore permits;

	private final Map<String, Semaphore> permitsByClient = new ConcurrentHashMap<>();

	/**
	 * Creates permits, all of them free.
	 * @param total the number of permits
	 * @param users what holds the permits, for messages: "streams of events"
	 * @param bound what limits the number, for messages: "pipeset.limits.x=8 allows"
	 */
	public ClientPermits(int total, String users, String bound) {
		this.total = total;
		this.users = users;
		this.bound = bound;
		this.permits = new Semaphore(total);
	}

	/** Takes a permit if one is free; otherwise returns {@code false} at once. */
	public boolean tryReserve(Client client) {
		Semaphore share = share(client);
		boolean inShare = share.tryAcquire();
		boolean taken = inShare && this.permits.tryAcquire();
		if (inShare && !taken) {
			share.release();
		}
		return taken;
	}

	/**
	 * Takes a permit, and waits for it if none is free.
	 * @param millis the longest wait for a permit of the client's share, and then once
	 * more for one of all permits, in milliseconds
	 * @return {@code false} if no permit became free in time
	 * @throws InterruptedException if the thread is interrupted while it waits
	 */
	public boolean tryReserve(Client client, long millis) throws InterruptedException {
		Semaphore share = share(client);
		boolean taken = false;
		if (share.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
			try {
				taken = this.permits.tryAcquire(millis, TimeUnit.MILLISECONDS);
			}
			finally {
				if (!taken) {
					share.release();
				}
			}
		}
		return taken;
	}

	/** Why a client got no permit: the beginning of a message. */
	public String refusal(Client client) {
		int most = client.share(this.total);
		return (most < this.total && share(client).availablePermits() == 0)
				? "The client '" + client + "' has " + most + " of " + this.total + ' ' + this.users
						+ ", and leaves the others to other clients"
				: "There are " + this.total + ' ' + this.users + ", as many as " + this.bound;
	}

	/** Releases a permit that a client has taken. */
	public void leave(Client client) {
		this.permits.release();
		share(client).release();
	}

	/** Whether all permits are taken. */
	public boolean areTaken() {
		return this.permits.availablePermits() == 0;
	}

	private Semaphore share(Client client) {
		return this.permitsByClient.computeIfAbsent(client.name(), (name) -> new Semaphore(client.share(this.total)));
	}

}
