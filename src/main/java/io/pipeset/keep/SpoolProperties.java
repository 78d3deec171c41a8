package io.pipeset.keep;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The settings of the spool.
 *
 * @param directory the directory of the files, which several instances may share; by
 * default {@code pipeset-spool} in the directory for temporary files
 * @param maxBytes the most bytes of all files of this instance together, 0 or more
 */
@ConfigurationProperties("pipeset.spool")
record SpoolProperties(@Nullable Path directory, @DefaultValue("8GB") DataSize maxBytes) {

	SpoolProperties {
		if (maxBytes.isNegative()) {
			throw new IllegalArgumentException("pipeset.spool.max-bytes must be 0 or more, not " + maxBytes);
		}
		String problem = FolderOwner.problem(folder(directory));
		if (problem != null) {
			throw new IllegalArgumentException("The folder of uploads " + problem
					+ ": set pipeset.spool.directory to a folder of the service's own user");
		}
	}

	Path folder() {
		return folder(this.directory);
	}

	private static Path folder(@Nullable Path directory) {
		return (directory != null) ? directory : Path.of(System.getProperty("java.io.tmpdir"), "pipeset-spool");
	}

}
