package io.pipeset.keep;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Whose a folder is. In a folder for temporary files, another user of the machine may
 * have made it first.
 */
final class FolderOwner {

	private FolderOwner() {
	}

	/**
	 * Why a folder, or the link in its place, is not the service's own.
	 * @return the end of a sentence; {@code null} for a folder of this user or of root,
	 * and for one that is not there yet
	 */
	static @Nullable String problem(Path folder) {
		try {
			if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)
					|| !folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
				return null;
			}
			for (String owner : new String[] { Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).getName(),
					Files.getOwner(folder).getName() }) {
				if (!List.of(ownUser(), "root", "0").contains(owner)) {
					return folder + " belongs to the user '" + owner + "'";
				}
			}
			return null;
		}
		catch (IOException ex) {
			return null;
		}
	}

	/** A container may have no name for its user, so a file says who it is. */
	private static String ownUser() throws IOException {
		Path file = Files.createTempFile("pipeset", null);
		try {
			return Files.getOwner(file).getName();
		}
		finally {
			Files.delete(file);
		}
	}

}
