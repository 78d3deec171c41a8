package io.pipeset.keep;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.report.RedisIdentity;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * The files of asynchronous jobs on disk, with a limit on their total size. When a
 * process starts, it takes over the files of processes that have ended.
 */
@Component
@EnableConfigurationProperties(SpoolProperties.class)
public final class Spool {

	/**
	 * The extension of a file that makes all files of its job outlast the process. The
	 * name of a file begins with the id of its job, up to the first dot.
	 */
	public static final String OF_JOB = ".job";

	/**
	 * The extension of a file of the job whose outcomes could not be stored any more,
	 * which has the same effect.
	 */
	public static final String OF_LOST = ".lost";

	/** The extension of a file with the body of a job's request. */
	public static final String OF_BODY = ".body";

	/** The extension of a file that no other process needs. */
	public static final String OF_RUN = ".keys";

	private static final Logger logger = LoggerFactory.getLogger(Spool.class);

	private final Path base;

	private final RedisIdentity redis;

	private final long maxBytes;

	private @Nullable SpoolFolder folder;

	private final Set<Removable> removable = new LinkedHashSet<>();

	private List<SpoolFile> found = List.of();

	/** The bytes of all files, including reserved bytes. */
	private long used;

	private static final long HEARTBEAT_MILLIS = 5000;

	/** The bytes that count for the share of a client, by its name. */
	private final Map<String, Long> usedBy = new HashMap<>();

	@Autowired
	Spool(SpoolProperties properties, RedisIdentity redis, MeterRegistry meters) {
		this(properties.folder(), redis, properties.maxBytes().toBytes(), meters);
	}

	/**
	 * An empty spool.
	 * @param base the directory in which the spool makes its own folder
	 * @param redis the Redis of its jobs; files of another Redis are not taken over
	 * @param maxBytes the most bytes of all files together
	 * @param meters receives the meters of the size
	 */
	public Spool(Path base, RedisIdentity redis, long maxBytes, MeterRegistry meters) {
		this.base = base;
		this.redis = redis;
		this.maxBytes = maxBytes;
		Gauge.builder("pipeset.spool.used", this, Spool::used)
			.baseUnit("bytes")
			.description("Size of the bodies and outcomes of asynchronous jobs on disk")
			.register(meters);
		Gauge.builder("pipeset.spool.budget", () -> this.maxBytes)
			.baseUnit("bytes")
			.description("The most that they may have together")
			.register(meters);
	}

	/** Takes over files. Without a folder the service still starts. */
	@PostConstruct
	void start() {
		try {
			this.found = found(folder().takeOver(true, Long.MAX_VALUE));
		}
		catch (IOException ex) {
			logger.warn("The spool has no folder, so that uploads with Prefer: respond-async are answered 507: {}. Set"
					+ " pipeset.spool.directory to a folder that the service may write to", ex.toString());
		}
	}

	/** Shows other processes that this one is alive. */
	@Scheduled(fixedRate = HEARTBEAT_MILLIS)
	synchronized void touch() {
		try {
			if (this.folder != null) {
				this.folder.touch();
			}
		}
		catch (IOException ex) {
			logger.debug("The lock file of the spool cannot be touched", ex);
		}
	}

	/**
	 * Takes over the files of processes that have ended since the start, as far as they
	 * fit into the spool.
	 * @return the files, to be closed
	 */
	public List<SpoolFile> takeOver() {
		SpoolFolder own;
		long room;
		synchronized (this) {
			own = this.folder;
			room = this.maxBytes - this.used;
		}
		try {
			// Not under the lock, because another process may be slow.
			return (own != null) ? found(own.takeOver(false, room)) : List.of();
		}
		catch (IOException ex) {
			logger.warn("The spool folders of ended processes could not be taken over: {}", ex.toString());
			return List.of();
		}
	}

	private List<SpoolFile> found(List<Path> paths) {
		List<SpoolFile> files = new ArrayList<>();
		for (Path path : paths) {
			try {
				long bytes = Files.size(path);
				add(bytes);
				files.add(new SpoolFile(this, path, null, bytes));
			}
			catch (IOException ex) {
				logger.warn("A spool file of an ended process cannot be read, and is ignored: {}", ex.toString());
			}
		}
		return files;
	}

	private synchronized void add(long bytes) {
		this.used += bytes;
	}

	/**
	 * Hands over the files of ended processes. They count for the size of the spool,
	 * which may exceed its limit for that reason.
	 * @return the files, to be closed; an empty list from the second call on
	 */
	public synchronized List<SpoolFile> takeFound() {
		List<SpoolFile> taken = this.found;
		this.found = List.of();
		return taken;
	}

	/**
	 * The share of a client.
	 * @param client the name of the client
	 * @param mostBytes the most bytes of all its files together
	 * @return {@code null} if it may use the whole spool
	 */
	public @Nullable Share share(String client, long mostBytes) {
		return (mostBytes < this.maxBytes) ? new Share(client, mostBytes) : null;
	}

	/**
	 * Makes a file, whose bytes count when they are written.
	 * @param name a unique name
	 * @param share the share of a client that the file counts for; {@code null} if only
	 * the limit of the spool applies
	 * @return the file, to be closed
	 * @throws SpoolException if there is no folder
	 */
	public SpoolFile create(String name, @Nullable Share share) throws SpoolException {
		try {
			return new SpoolFile(this, folder().file(name), share, 0);
		}
		catch (IOException ex) {
			throw diskFailure("made", ex);
		}
	}

	/**
	 * Refuses a file that would not fit into an empty spool.
	 * @param share the share that the file would count for; {@code null} for none
	 * @param bytes the declared size of the file
	 * @throws SpoolException if the file is too large
	 */
	public void refuseBeyond(@Nullable Share share, long bytes) throws SpoolException {
		if (bytes > ((share != null) ? share.mostBytes : this.maxBytes)) {
			throw full(share, bytes);
		}
	}

	/**
	 * The size of all files.
	 * @return bytes, including those that are about to be written
	 */
	public synchronized long used() {
		return this.used;
	}

	/** The most bytes of all files together. */
	public long maxBytes() {
		return this.maxBytes;
	}

	/**
	 * Allows the spool to remove files when others need the space.
	 * @param files closed when their space is needed, the oldest first
	 */
	public synchronized void allowRemoval(Removable files) {
		this.removable.add(files);
	}

	/** Forgets files that were removed. */
	public synchronized void forget(Removable files) {
		this.removable.remove(files);
	}

	/**
	 * Removes the oldest removable files.
	 * @return {@code false} if there are none
	 */
	boolean removeOldest() {
		Removable oldest = takeOldestRemovable(null);
		if (oldest != null) {
			// Not under the lock, because the files have locks of their own.
			oldest.close();
		}
		return oldest != null;
	}

	/** Takes the oldest removable files, of one client or of any. */
	private synchronized @Nullable Removable takeOldestRemovable(@Nullable Share share) {
		Removable oldest = this.removable.stream()
			.filter((files) -> share == null || share.client.equals(files.client()))
			.findFirst()
			.orElse(null);
		if (oldest != null) {
			this.removable.remove(oldest);
		}
		return oldest;
	}

	void reserve(@Nullable Share share, long bytes) throws SpoolException {
		// Not under the lock, because the files have locks of their own.
		for (Removable oldest = tryReserve(share, bytes); oldest != null; oldest = tryReserve(share, bytes)) {
			oldest.close();
		}
	}

	/** Reserves bytes; if they do not fit, returns the files to remove first. */
	private synchronized @Nullable Removable tryReserve(@Nullable Share share, long bytes) throws SpoolException {
		boolean beyondShare = share != null && bytes > share.mostBytes - usedBy(share);
		if (beyondShare || bytes > this.maxBytes - this.used) {
			Removable oldest = (bytes <= this.maxBytes) ? takeOldestRemovable((beyondShare) ? share : null) : null;
			if (oldest != null) {
				return oldest;
			}
			throw full((beyondShare) ? share : null, bytes);
		}
		count(share, bytes);
		return null;
	}

	private synchronized SpoolException full(@Nullable Share share, long bytes) {
		return new SpoolException("The spool has no room for " + bytes + " bytes more"
				+ ((share != null)
						? " of the client '" + share.client + "': " + usedBy(share) + " of the " + share.mostBytes
								+ " that one client may use are taken, three quarters of pipeset.spool.max-bytes="
								+ this.maxBytes
						: ": " + this.used + " of " + this.maxBytes + " are taken (pipeset.spool.max-bytes)"));
	}

	private long usedBy(Share share) {
		return this.usedBy.getOrDefault(share.client, 0L);
	}

	private void count(@Nullable Share share, long bytes) {
		this.used += bytes;
		if (share != null) {
			this.usedBy.merge(share.client, bytes, Long::sum);
		}
	}

	synchronized void release(@Nullable Share share, long bytes) {
		count(share, -bytes);
	}

	/** Removes all files except those of jobs that the next process has to know. */
	@PreDestroy
	public synchronized void end() {
		if (this.folder != null) {
			try {
				this.folder.remove((file) -> Stream.of(OF_JOB, OF_LOST)
					.anyMatch((extension) -> Files.exists(file.resolveSibling(job(file) + extension))));
			}
			catch (IOException ex) {
				logger.warn("The spool could not be removed: {}", ex.toString());
			}
			this.folder = null;
		}
	}

	/** The id of the job of a file. */
	private static String job(Path file) {
		return file.getFileName().toString().split("\\.", 2)[0];
	}

	private synchronized SpoolFolder folder() throws IOException {
		if (this.folder != null && !this.folder.exists()) {
			logger.warn(
					"The folder of the spool was removed while the service ran: its files are lost, and a new folder is made");
			this.folder.abandon();
			this.folder = null;
		}
		if (this.folder == null) {
			this.folder = SpoolFolder.open(this.base, this.redis);
		}
		return this.folder;
	}

	/** Logs a failure with its path, which callers must not see. */
	static SpoolException diskFailure(String action, IOException ex) {
		logger.warn("A file of the spool cannot be {}: {}", action, ex.toString());
		String reason = (ex instanceof FileSystemException named && named.getReason() != null) ? named.getReason()
				: (ex instanceof FileSystemException) ? ex.getClass().getSimpleName() : ex.getMessage();
		return new SpoolException("The spool's file cannot be " + action + " (" + reason
				+ "): its disk is full or fails (pipeset.spool.directory)", ex);
	}

	/** Files that the spool may remove when others need the space. */
	@FunctionalInterface
	public interface Removable extends AutoCloseable {

		@Override
		void close();

		/**
		 * The name of the client whose share the files count for; {@code null} for none.
		 */
		default @Nullable String client() {
			return null;
		}

	}

	/**
	 * The part of the spool that one of several clients may use. Files of ended processes
	 * do not count for it.
	 *
	 * @param client the name of the client
	 * @param mostBytes the most bytes of all its files together
	 */
	public record Share(String client, long mostBytes) {

	}

}
