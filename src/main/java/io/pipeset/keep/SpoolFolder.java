package io.pipeset.keep;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.pipeset.report.RedisIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of one process, next to those of other processes in the same directory. The
 * process holds a lock on a file, which the kernel releases when the process ends for any
 * reason. The lock file contains the identity of the Redis of its jobs. The next process
 * of the same Redis that starts takes over the folder of a dead process.
 */
final class SpoolFolder {

	private static final Logger logger = LoggerFactory.getLogger(SpoolFolder.class);

	/** The most folders of another Redis that the log lists. */
	private static final int MAX_LISTED = 10;

	/** A user may have edited a lock file, to any size. */
	private static final int MAX_LOCK_BYTES = 1 << 10;

	private static final Pattern NAME = Pattern.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}");

	/**
	 * The folders of this process with their locks. Making and removing folders
	 * synchronizes on this map. A lock file in it is never opened again, because closing
	 * a file releases all locks that the process has on it.
	 */
	private static final Map<String, FileChannel> own = new HashMap<>();

	private final Path base;

	private final String name;

	private final RedisIdentity redis;

	/** Holds the lock. */
	private final FileChannel lock;

	/** The folders that are not taken over, and that the log has named. */
	private final Set<String> named = new HashSet<>();

	private SpoolFolder(Path base, String name, RedisIdentity redis, FileChannel lock) {
		this.base = base;
		this.name = name;
		this.redis = redis;
		this.lock = lock;
	}

	/**
	 * Makes a folder.
	 * @param base the directory of all folders
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
					// Before any file: a folder without a Redis is never taken over.
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

	String name() {
		return this.name;
	}

	/** The path of a file. */
	Path file(String file) {
		return this.base.resolve(this.name).resolve(file);
	}

	/**
	 * Sets the time of a file to now, from which the next process knows when this one
	 * ended. It is not the lock file, because setting a time opens and closes a file,
	 * which would release the lock, and because operators may edit that one.
	 */
	void touch() throws IOException {
		Path alive = alive(this.name);
		if (!Files.exists(alive)) {
			Files.createFile(alive);
		}
		Files.setLastModifiedTime(alive, FileTime.fromMillis(System.currentTimeMillis()));
	}

	private Path alive(String folder) {
		return this.base.resolve(folder + ".alive");
	}

	/** Whether the folder has not been removed. */
	boolean exists() {
		return Files.isDirectory(this.base.resolve(this.name));
	}

	/** Gives up a folder that was removed. */
	void abandon() throws IOException {
		synchronized (own) {
			own.remove(this.name);
			this.lock.close();
		}
	}

	/**
	 * Takes over the files of dead processes. A folder that cannot be taken over does not
	 * fail the call, and the log names it once. The time of each job's request becomes
	 * the time at which its process ended.
	 * @param waits whether to wait while another process takes folders over; otherwise
	 * the call takes over nothing then
	 * @param room the most bytes to take over; a folder with more is left to a process
	 * that has room
	 * @return the files, now in this folder
	 */
	List<Path> takeOver(boolean waits, long room) throws IOException {
		List<Path> taken = new ArrayList<>();
		List<String> foreign = new ArrayList<>();
		synchronized (own) {
			try (FileChannel all = lockFile(this.base.resolve(".lock"))) {
				if (waits) {
					all.lock();
				}
				else if (all.tryLock() == null) {
					return taken;
				}
				long left = room;
				for (String name : others()) {
					try {
						left -= takeOver(name, taken, foreign, left);
					}
					catch (IOException ex) {
						if (this.named.add(name + ex)) {
							logger.warn("The spool folder {} of an ended process could not be taken over: {}", name,
									ex.toString());
						}
					}
				}
			}
		}
		foreign.removeIf((folder) -> !this.named.add(folder));
		if (!foreign.isEmpty()) {
			logger.warn(
					"Files of jobs of another Redis than {} are left alone, in {} folders: {}. To resume these jobs,"
							+ " start a service of their Redis with pipeset.spool.directory={}; to abandon them, delete"
							+ " their folder. If it is {} under another name, write this name into the folder's .lock"
							+ " file, and start this service again",
					this.redis.name(), foreign.size(),
					String.join(", ", foreign.subList(0, Math.min(MAX_LISTED, foreign.size()))), this.base,
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

	/**
	 * Takes over all files of a folder, or none of them.
	 * @return the bytes of the files
	 */
	private long takeOver(String name, List<Path> taken, List<String> foreign, long room) throws IOException {
		Path folder = this.base.resolve(name);
		Path lockFile = this.base.resolve(name + ".lock");
		if (!Files.exists(lockFile) && !this.named.add(name)) {
			return 0;
		}
		if (!Files.exists(lockFile)) {
			logger
				.warn("The spool folder {} is not taken over, because its .lock file was removed, so that its process may"
						+ " still be alive. When that process has ended, make the file again, with the name of its Redis"
						+ " in it ({} for the Redis of this service)", folder, this.redis.name());
			return 0;
		}
		try (FileChannel lock = FileChannel.open(lockFile, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			if (lock.tryLock() == null) {
				return 0;
			}
			Path alive = alive(name);
			FileTime ended = Files.getLastModifiedTime((Files.exists(alive)) ? alive : lockFile);
			long bytes = 0;
			if (Files.isDirectory(folder)) {
				List<Path> files = files(folder);
				String redis = text(lock);
				if (!files.isEmpty() && !redis.equals(this.redis.name())) {
					foreign.add(folder + " of "
							+ ((redis.isEmpty()) ? "a Redis that an older version did not name" : redis));
					return 0;
				}
				for (Path file : files) {
					bytes += Files.size(file);
				}
				if (bytes > room) {
					throw new IOException("its " + bytes + " bytes do not fit into pipeset.spool.max-bytes now");
				}
				List<Path> moved = move(files);
				for (Path file : moved) {
					if (file.toString().endsWith(Spool.OF_JOB)) {
						setTime(file, ended);
					}
				}
				taken.addAll(moved);
				Files.delete(folder);
			}
			Files.deleteIfExists(alive);
			Files.delete(lockFile);
			return bytes;
		}
	}

	/**
	 * Moves files into this folder; if one cannot be moved, all are moved back.
	 */
	private List<Path> move(List<Path> files) throws IOException {
		List<Path> moved = new ArrayList<>();
		try {
			for (Path file : files) {
				Path target = file(file.getFileName().toString());
				Files.move(file, target);
				moved.add(target);
			}
			return moved;
		}
		catch (IOException ex) {
			for (int i = 0; i < moved.size(); i++) {
				Files.move(moved.get(i), files.get(i));
			}
			throw ex;
		}
	}

	private static void setTime(Path file, FileTime time) {
		try {
			Files.setLastModifiedTime(file, time);
		}
		catch (IOException ex) {
			// Then the job counts as interrupted since its upload.
			logger.debug("The time of {} cannot be set", file, ex);
		}
	}

	/**
	 * Removes the files, and the folder if no file stays. If a file stays, this process
	 * holds the lock until it ends, because it may still write.
	 * @param stays whether to keep a file for the next process
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
					Files.deleteIfExists(alive(this.name));
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

	/** Reads through the channel with the lock; some systems allow no other. */
	private static String text(FileChannel lock) throws IOException {
		ByteBuffer bytes = ByteBuffer.allocate(MAX_LOCK_BYTES);
		while (bytes.hasRemaining() && lock.read(bytes) >= 0) {
			// Until the end of the file.
		}
		return StandardCharsets.UTF_8.decode(bytes.flip()).toString().replaceAll("\\p{Cntrl}", " ").trim();
	}

	private static FileChannel lockFile(Path path) throws IOException {
		return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
	}

	/** Makes directories that only the user of the service may read. */
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
