package io.pipeset.job.spool;

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
import org.springframework.stereotype.Component;

/**
 * The files of jobs that outlive their requests, of a bounded size together. Files that a
 * process has left are found by the next one that starts.
 */
@Component
@EnableConfigurationProperties(SpoolProperties.class)
public final class Spool {

	/**
	 * The end of the name of a file for whose sake all of its job's files outlast the
	 * process. What is ahead of the first point in the name of a file names its job.
	 */
	public static final String OF_JOB = ".job";

	/** The end of the name of a file that has the end of its job. */
	public static final String OF_END = ".end";

	private static final Logger logger = LoggerFactory.getLogger(Spool.class);

	private final Path base;

	private final RedisIdentity redis;

	private final long maxBytes;

	private @Nullable SpoolFolder folder;

	private final Set<Kept> kept = new LinkedHashSet<>();

	private List<SpoolFile> found = List.of();

	private long used;

	/** The part of that which counts for the share of a client, by its name. */
	private final Map<String, Long> usedBy = new HashMap<>();

	@Autowired
	Spool(SpoolProperties properties, RedisIdentity redis, MeterRegistry meters) {
		this(properties.folder(), redis, properties.maxBytes().toBytes(), meters);
	}

	/**
	 * A spool without a file.
	 * @param base the folder in which it makes its own
	 * @param redis the Redis that its jobs are of; files of another are left alone
	 * @param maxBytes the size of all its files together
	 * @param meters takes the meter of that size
	 */
	public Spool(Path base, RedisIdentity redis, long maxBytes, MeterRegistry meters) {
		this.base = base;
		this.redis = redis;
		this.maxBytes = maxBytes;
		Gauge.builder("pipeset.spool.used", this, Spool::used)
			.baseUnit("bytes")
			.description("Size of the bodies and reports of asynchronous jobs on disk")
			.register(meters);
		Gauge.builder("pipeset.spool.budget", () -> this.maxBytes)
			.baseUnit("bytes")
			.description("The most that they may have together")
			.register(meters);
	}

	/** Without a folder the service starts all the same: most calls do not need it. */
	@PostConstruct
	void start() {
		try {
			this.found = found(folder().takeOver());
		}
		catch (IOException ex) {
			logger.warn("There is no spool, so that uploads with Prefer: respond-async are answered 507: {}. Set"
					+ " pipeset.spool.directory to a folder that the service may write to", ex.toString());
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
				logger.warn("A file that a process has left cannot be read: {}", ex.toString());
			}
		}
		return files;
	}

	private synchronized void add(long bytes) {
		this.used += bytes;
	}

	/**
	 * Hands over the files that ended processes have left. They count in the size of the
	 * spool, which may be larger than it may be then.
	 * @return the files, to be closed; an empty list from the second time on
	 */
	public synchronized List<SpoolFile> takeFound() {
		List<SpoolFile> taken = this.found;
		this.found = List.of();
		return taken;
	}

	/**
	 * Makes a file, whose bytes count as they are written.
	 * @param name its name, which no other file has
	 * @param share the share that it counts for; {@code null} if it is bounded by the
	 * spool only
	 * @return the file, to be closed
	 * @throws SpoolException if there is no folder
	 */
	public SpoolFile create(String name, @Nullable Share share) throws SpoolException {
		try {
			return new SpoolFile(this, folder().file(name), share, 0);
		}
		catch (IOException ex) {
			throw failed("made", ex);
		}
	}

	/**
	 * Refuses a file that the spool can never hold, however empty it is.
	 * @param share the share that the file would count for, if any
	 * @param bytes the size that somebody says it will have
	 * @throws SpoolException if it is too large
	 */
	public void refuseBeyond(@Nullable Share share, long bytes) throws SpoolException {
		if (bytes > ((share != null) ? share.mostBytes : this.maxBytes)) {
			throw noRoom(share, bytes);
		}
	}

	/**
	 * The size of all files.
	 * @return bytes, those that are about to be written included
	 */
	public synchronized long used() {
		return this.used;
	}

	/** The most that all its files may have together, in bytes. */
	public long maxBytes() {
		return this.maxBytes;
	}

	/**
	 * Keeps files only as long as there is room for others.
	 * @param files closed where their room is needed, the oldest first
	 */
	public synchronized void mayRemove(Kept files) {
		this.kept.add(files);
	}

	/**
	 * Forgets files that were removed.
	 * @param files the files
	 */
	public synchronized void forget(Kept files) {
		this.kept.remove(files);
	}

	/**
	 * Removes files that are kept only as long as there is room for others.
	 * @return {@code false} if there are none
	 */
	boolean removeOldest() {
		Kept oldest = takeOldest(null);
		if (oldest != null) {
			// Not under the lock, as the files have locks of their own.
			oldest.close();
		}
		return oldest != null;
	}

	/** Takes the files to remove first, of one client or of any. */
	private synchronized @Nullable Kept takeOldest(@Nullable Share share) {
		Kept oldest = this.kept.stream()
			.filter((files) -> share == null || share.client.equals(files.client()))
			.findFirst()
			.orElse(null);
		if (oldest != null) {
			this.kept.remove(oldest);
		}
		return oldest;
	}

	void take(@Nullable Share share, long bytes) throws SpoolException {
		// Not under the lock, as the files have locks of their own.
		for (Kept oldest = tryTake(share, bytes); oldest != null; oldest = tryTake(share, bytes)) {
			oldest.close();
		}
	}

	/** Takes room, or names the files to remove for it. */
	private synchronized @Nullable Kept tryTake(@Nullable Share share, long bytes) throws SpoolException {
		boolean beyondShare = share != null && bytes > share.mostBytes - usedBy(share);
		if (beyondShare || bytes > this.maxBytes - this.used) {
			Kept oldest = (bytes <= this.maxBytes) ? takeOldest((beyondShare) ? share : null) : null;
			if (oldest != null) {
				return oldest;
			}
			throw noRoom((beyondShare) ? share : null, bytes);
		}
		count(share, bytes);
		return null;
	}

	private synchronized SpoolException noRoom(@Nullable Share share, long bytes) {
		return new SpoolException("The spool has no room for " + bytes + " bytes more"
				+ ((share != null)
						? " of the client '" + share.client + "': " + usedBy(share) + " of the " + share.mostBytes
								+ " that it may have beside other clients are taken, three quarters of"
								+ " pipeset.spool.max-bytes=" + this.maxBytes
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

	synchronized void give(@Nullable Share share, long bytes) {
		count(share, -bytes);
	}

	/** Removes all files, but those of jobs that the next process is to know. */
	@PreDestroy
	public synchronized void end() {
		if (this.folder != null) {
			try {
				this.folder.remove((file) -> Files.exists(file.resolveSibling(job(file) + OF_JOB))
						|| Files.exists(file.resolveSibling(job(file) + OF_END)));
			}
			catch (IOException ex) {
				logger.warn("The spool could not be removed: {}", ex.toString());
			}
			this.folder = null;
		}
	}

	/** The job that a file is of. */
	private static String job(Path file) {
		return file.getFileName().toString().split("\\.", 2)[0];
	}

	private synchronized SpoolFolder folder() throws IOException {
		if (this.folder != null && !this.folder.exists()) {
			logger.warn("The folder of the spool was removed by somebody: its files are lost, and a new one is made");
			this.folder.leave();
			this.folder = null;
		}
		if (this.folder == null) {
			this.folder = SpoolFolder.open(this.base, this.redis);
		}
		return this.folder;
	}

	/** The log has the path, which is not for callers to see. */
	static SpoolException failed(String what, IOException ex) {
		logger.warn("A file of the spool cannot be {}: {}", what, ex.toString());
		String reason = (ex instanceof FileSystemException named && named.getReason() != null) ? named.getReason()
				: (ex instanceof FileSystemException) ? ex.getClass().getSimpleName() : ex.getMessage();
		return new SpoolException("The spool's file cannot be " + what + " (" + reason
				+ "): its disk is full or fails (pipeset.spool.directory)", ex);
	}

	/** Files that are kept as long as there is room for others. */
	@FunctionalInterface
	public interface Kept extends AutoCloseable {

		@Override
		void close();

		/** The name of the client for whose share they count, if any. */
		default @Nullable String client() {
			return null;
		}

	}

	/**
	 * The part of the spool that one of several clients may have. Files that a process
	 * has left do not count for it.
	 *
	 * @param client the name of the client
	 * @param mostBytes the size of all its files together
	 */
	public record Share(String client, long mostBytes) {

	}

}
