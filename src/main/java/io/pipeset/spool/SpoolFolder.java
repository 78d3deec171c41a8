package io.pipeset.spool;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of one process, beside those of others. A lock tells whether its process
 * lives: the kernel gives it back whatever the process dies of.
 */
final class SpoolFolder {

	private static final Logger logger = LoggerFactory.getLogger(SpoolFolder.class);

	private static final Pattern NAME = Pattern.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}");

	private static final int NAMED_IN_LOG = 10;

	/**
	 * The folders of this process, also the monitor of all that makes and removes
	 * folders. They are never asked for their locks: to close a file gives back all locks
	 * of the process on it.
	 */
	private static final Set<String> own = new HashSet<>();

	private final Path base;

	private final String name;

	/** Holds the lock. */
	private final FileChannel lock;

	private SpoolFolder(Path base, String name, FileChannel lock) {
		this.base = base;
		this.name = name;
		this.lock = lock;
	}

	/**
	 * Makes a folder, and removes those of processes that live no more.
	 * @param base the folder of all
	 */
	static SpoolFolder open(Path base) throws IOException {
		synchronized (own) {
			createDirectories(base);
			try (FileChannel all = lockFile(base.resolve(".lock"))) {
				all.lock();
				removeLeft(base);
				String name = UUID.randomUUID().toString();
				FileChannel lock = lockFile(base.resolve(name + ".lock"));
				try {
					if (lock.tryLock() == null) {
						throw new IOException("the lock of a new folder is taken");
					}
					createDirectories(base.resolve(name));
					own.add(name);
					return new SpoolFolder(base, name, lock);
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

	/** Removes the folder with all its files. */
	void remove() throws IOException {
		synchronized (own) {
			own.remove(this.name);
			try (FileChannel all = lockFile(this.base.resolve(".lock"))) {
				all.lock();
				delete(this.base, this.name);
			}
			finally {
				this.lock.close();
			}
		}
	}

	private static void removeLeft(Path base) throws IOException {
		List<String> names;
		try (Stream<Path> all = Files.list(base)) {
			names = all.map((path) -> path.getFileName().toString().replace(".lock", ""))
				.distinct()
				.filter((name) -> NAME.matcher(name).matches() && !own.contains(name))
				.toList();
		}
		for (String name : names) {
			try (FileChannel lock = lockFile(base.resolve(name + ".lock"))) {
				if (lock.tryLock() != null) {
					List<String> files = delete(base, name);
					if (!files.isEmpty()) {
						logger.warn(
								"A process ended without its jobs: {} files of its spool were removed ({}). Nobody"
										+ " goes on with these jobs, and their reports are lost",
								files.size(),
								String.join(", ", files.subList(0, Math.min(NAMED_IN_LOG, files.size()))));
					}
				}
			}
			catch (IOException ex) {
				logger.warn("The spool of a process that ended could not be removed: {}", ex.toString());
			}
		}
	}

	/** Deletes a folder, which has no folders in it, and its lock; answers its files. */
	private static List<String> delete(Path base, String name) throws IOException {
		List<String> deleted = new ArrayList<>();
		Path folder = base.resolve(name);
		if (Files.isDirectory(folder)) {
			List<Path> files;
			try (Stream<Path> all = Files.list(folder)) {
				files = all.sorted().toList();
			}
			for (Path file : files) {
				Files.deleteIfExists(file);
				deleted.add(file.getFileName().toString());
			}
		}
		Files.deleteIfExists(folder);
		Files.deleteIfExists(base.resolve(name + ".lock"));
		return deleted;
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
