package io.pipeset.keep;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** A spool that another user has made first is refused. */
class FolderOwnerTests {

	@Test
	void aFolderOfThisUserIsTaken(@TempDir Path folder) {
		assertThat(FolderOwner.problem(folder)).isNull();
		assertThat(FolderOwner.problem(folder.resolve("none"))).isNull();
	}

	@Test
	void aFolderOrALinkOfAnotherUserIsRefused(@TempDir Path folder) throws IOException {
		Path foreign = Files.createDirectory(folder.resolve("foreign"));
		Path link = Files.createSymbolicLink(folder.resolve("link"), folder);
		giveAway(foreign);
		giveAway(link);
		assertThat(FolderOwner.problem(foreign)).isEqualTo(foreign + " belongs to the user 'nobody'");
		assertThat(FolderOwner.problem(link)).isEqualTo(link + " belongs to the user 'nobody'");
		assertThatIllegalArgumentException().isThrownBy(() -> new SpoolProperties(foreign, DataSize.ofBytes(1)))
			.withMessageContaining("set pipeset.spool.directory");
	}

	/** Only root may do that. */
	private static void giveAway(Path file) throws IOException {
		try {
			UserPrincipal nobody = file.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
			Files.setAttribute(file, "owner:owner", nobody, LinkOption.NOFOLLOW_LINKS);
		}
		catch (FileSystemException ex) {
			Assumptions.abort("skipped: the tests' user cannot give files away: " + ex.getMessage());
		}
	}

}
