package io.pipeset.service;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The files below a spool that a service uses. Files and folders go away while one looks.
 */
public final class SpoolFiles {

	private SpoolFiles() {
	}

	/** The files whose names end so; none if there is no such spool. */
	public static List<Path> ending(Path spool, String ending) throws IOException {
		List<Path> found = new ArrayList<>();
		Files.walkFileTree(spool, new SimpleFileVisitor<>() {

			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
				if (file.getFileName().toString().endsWith(ending)) {
					found.add(file);
				}
				return FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
				return goOn(failure);
			}

			@Override
			public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure) throws IOException {
				return goOn(failure);
			}

			private FileVisitResult goOn(@Nullable IOException failure) throws IOException {
				if (failure != null && !(failure instanceof NoSuchFileException)) {
					throw failure;
				}
				return FileVisitResult.CONTINUE;
			}

		});
		return found;
	}

}
