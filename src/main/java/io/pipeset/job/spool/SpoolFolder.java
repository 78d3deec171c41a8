package io.pipeset.job.spool;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.pipeset.report.RedisIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of one process, beside those of others. A lock tells whether its process
 * lives: the kernel gives it back whatever the process dies of. The file of the lock
 * names the Redis of its jobs. The folder of a process that lives no more is taken over
 * by the next one of the same Redis that starts, and by no other.
 */
final class SpoolFolder {

	private static final Logger logger = LoggerFactory.getLogger(SpoolFolder.class);

	private static final int MOST_NAMED = 10;

	/** The file of a lock may be anything that somebody has written. */
	private static final int MOST_BYTES = 1 << 10;

	private static final Pattern NAME = Pattern.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}");

	/**
	 * The folders of this process and their locks, also the monitor of all that makes and
	 * removes folders. They are never asked for their locks: to close a file gives back
	 * all locks of the process on it.
	 */
	private static final Map<String, FileChannel> own = new HashMap<>();

	private final Path base;

	private final String name;

	private final RedisIdentity redis;

	/** Holds the lock. */
	private final FileChannel lock;

	private SpoolFolder(Path base, String name, RedisIdentity redis, FileChannel lock) {
		this.base = base;
		this.name = name;
		this.redis = redis;
		this.lock = lock;
	}

	/**
	 * Makes a folder.
	 * @param base the folder of all
	 * @param redis the Redis of its jobs
	 */
	static SpoolFolder open(Path base, RedisIdentity redis) throws IOException {
		synchronized (own) {
			createDirectories(base);
			try (FileChannel all = lockFile(base.resolve(".lock"))) {
				all.lock();
				String name = UUID.randomUUID().toString();
				FileChannel lock = lockFile(base.resolve(name + ".lock"));
				try {
					if (lock.tryLock() == null) {
						throw new IOException("the lock of a new folder is taken");
					}
					// Ahead of the first file, which is nobody's without it.
					lock.write(ByteBuffer.wrap(redis.name().getBytes(StandardCharsets.UTF_8)));
					createDirectories(base.resolve(name));
					own.put(name, lock);
					return new SpoolFolder(base, name, redis, lock);
				}
				catch (IOException | RuntimeException ex) {
					lock.close();
					throw ex;
				}
			}
		}
	}

	/** The place of a file. */
	Path file(String file) {
		return this.base.resolve(this.name).resolve(file);
	}

	/** Whether nobody has removed it. */
	boolean exists() {
		return Files.isDirectory(this.base.resolve(this.name));
	}

	/** Gives up a folder that somebody has removed. */
	void leave() throws IOException {
		synchronized (own) {
			own.remove(this.name);
			this.lock.close();
		}
	}

	/**
	 * Takes over the files of processes that live no more. Nothing of it can fail a
	 * start.
	 * @return the files, which are in this folder now
	 */
	List<Path> takeOver() throws IOException {
		List<Path> taken = new ArrayList<>();
		List<String> strangers = new ArrayList<>();
		synchronized (own) {
			try (FileChannel all = lockFile(this.base.resolve(".lock"))) {
				all.lock();
				for (String name : others()) {
					try {
						takeOver(name, taken, strangers);
					}
					catch (IOException ex) {
						logger.warn("The spool of a process that ended could not be taken over: {}", ex.toString());
					}
				}
			}
		}
		if (!strangers.isEmpty()) {
			logger.warn(
					"Files of jobs of another Redis than {} are left alone, in {} folders: {}. To go on with these jobs,"
							+ " start a service of their Redis with pipeset.spool.directory={}; to give them up, delete"
							+ " their folder. If it is {} under another name, write this name into the folder's .lock"
							+ " file, and start this service again",
					this.redis.name(), strangers.size(),
					String.join(", ", strangers.subList(0, Math.min(MOST_NAMED, strangers.size()))), this.base,
					this.redis.name());
		}
		return taken;
	}

	private List<String> others() throws IOException {
		try (Stream<Path> all = Files.list(this.base)) {
			return all.map((path) -> path.getFileName().toString().replace(".lock", ""))
				.distinct()
				.filter((name) -> NAME.matcher(name).matches() && !own.containsKey(name))
				.sorted()
				.toList();
		}
	}

	/** Moves file by file: whatever is left behind, the next process finds. */
	private void takeOver(String name, List<Path> taken, List<String> strangers) throws IOException {
		Path folder = this.base.resolve(name);
		Path lockFile = this.base.resolve(name + ".lock");
		if (!Files.exists(lockFile)) {
			logger
				.warn("The spool {} has no file for its lock, which somebody has removed. Its process may live, so that"
						+ " nobody takes it over: once that process has ended, make the file anew, with the name of its"
						+ " Redis in it ({} for that of this service)", folder, this.redis.name());
			return;
		}
		try (FileChannel lock = FileChannel.open(lockFile, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			if (lock.tryLock() == null) {
				return;
			}
			if (Files.isDirectory(folder)) {
				List<Path> files = files(folder);
				String redis = text(lock);
				if (!files.isEmpty() && !redis.equals(this.redis.name())) {
					strangers.add(folder + " of "
							+ ((redis.isEmpty()) ? "a Redis that an older version did not name" : redis));
					return;
				}
				for (Path file : files) {
					taken.add(Files.move(file, file(file.getFileName().toString())));
				}
				Files.delete(folder);
			}
			Files.delete(lockFile);
		}
	}

	/**
	 * Removes the files, and the folder unless some are to stay.
	 * @param stays whether a file is for the next process. Then the lock is given back by
	 * the end of this one, which may still write
	 */
	void remove(Predicate<Path> stays) throws IOException {
		synchronized (own) {
			try (FileChannel all = lockFile(this.base.resolve(".lock"))) {
				all.lock();
				Path folder = this.base.resolve(this.name);
				boolean empty = true;
				for (Path file : (Files.isDirectory(folder)) ? files(folder) : List.<Path>of()) {
					if (stays.test(file)) {
						empty = false;
					}
					else {
						Files.deleteIfExists(file);
					}
				}
				if (empty) {
					own.remove(this.name);
					Files.deleteIfExists(folder);
					Files.deleteIfExists(this.base.resolve(this.name + ".lock"));
					this.lock.close();
				}
			}
		}
	}

	private static List<Path> files(Path folder) throws IOException {
		try (Stream<Path> all = Files.list(folder)) {
			return all.sorted().toList();
		}
	}

	/** Reads by the channel that has the lock, as no other may on every system. */
	private static String text(FileChannel lock) throws IOException {
		ByteBuffer bytes = ByteBuffer.allocate(MOST_BYTES);
		while (bytes.hasRemaining() && lock.read(bytes) >= 0) {
			// The file is read to its end.
		}
		return StandardCharsets.UTF_8.decode(bytes.flip()).toString().replaceAll("\\p{Cntrl}", " ").trim();
	}

	private static FileChannel lockFile(Path path) throws IOException {
		return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
	}

	/** Only the service's user may read what callers have sent. */
	private static void createDirectories(Path path) throws IOException {
		if (path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
			Files.createDirectories(path,
					PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
		}
		else {
			Files.createDirectories(path);
		}
	}

}
