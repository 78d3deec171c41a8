package io.pipeset.keep;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pipeset.OwnThread;
import io.pipeset.report.RedisIdentity;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.util.FileSystemUtils;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The spool keeps files within its limits, and hands those of dead processes to the next
 * one.
 */
class SpoolTests {

	private static final RedisIdentity REDIS = new RedisIdentity("localhost:6379/0");

	@TempDir
	Path temporary;

	@Test
	void aFileIsReadableUntilItIsRemoved() throws IOException {
		Spool spool = spool(100);
		SpoolFile file = spool.create("a", null);
		write(file, 60);
		assertThat(file.bytes()).isEqualTo(60);
		assertThat(spool.used()).isEqualTo(60);
		for (int time = 0; time < 2; time++) {
			try (InputStream bytes = file.open()) {
				assertThat(bytes.readAllBytes()).hasSize(60).containsOnly(7);
			}
		}
		file.close();
		file.close();
		assertThat(spool.used()).isZero();
		assertThatExceptionOfType(SpoolException.class).isThrownBy(() -> file.open().readAllBytes());
		spool.end();
		assertThat(folders()).isEmpty();
	}

	@Test
	void allFilesTogetherHaveABound() throws IOException {
		Spool spool = spool(100);
		SpoolFile first = spool.create("a", null);
		assertThat(spool.used()).isZero();
		write(first, 60);
		assertThatExceptionOfType(SpoolException.class).isThrownBy(() -> write(spool.create("b", null), 41))
			.withMessageContaining("60 of 100 are taken (pipeset.spool.max-bytes)");
		spool.refuseBeyond(null, 100);
		assertThatExceptionOfType(SpoolException.class).isThrownBy(() -> spool.refuseBeyond(null, 101))
			.withMessageContaining("no room for 101 bytes more");
		first.close();
		write(spool.create("d", null), 100);
		assertThat(spool.used()).isEqualTo(100);
		spool.end();
	}

	@Test
	void aClientAtItsShareRemovesOnlyItsOwnFiles() throws IOException {
		Spool spool = spool(100);
		Spool.Share share = new Spool.Share("a", 60);
		RemovableFile of = new RemovableFile(spool, share);
		RemovableFile ofOther = new RemovableFile(spool, new Spool.Share("b", 60));
		write(ofOther.file, 30);
		write(of.file, 40);
		SpoolFile next = spool.create("next", share);
		write(next, 60);
		assertThat(of.removed).isTrue();
		assertThat(ofOther.removed).isFalse();
		assertThat(spool.used()).isEqualTo(90);
		assertThatExceptionOfType(SpoolException.class).isThrownBy(() -> write(spool.create("more", share), 1))
			.withMessageContaining("no room for 1 bytes more of the client 'a': 60 of the 60 that one client may use")
			.withMessageContaining("pipeset.spool.max-bytes=100");
		assertThatExceptionOfType(SpoolException.class).isThrownBy(() -> spool.refuseBeyond(share, 61));
		next.close();
		write(spool.create("again", share), 60);
		spool.end();
	}

	@Test
	@EnabledOnOs(OS.LINUX)
	void aFileWithAClosedChannelIsNotOpen() throws IOException {
		Spool spool = spool(100);
		SpoolFile file = spool.create("a", null);
		file.writeAt(0, ByteBuffer.wrap(new byte[] { 1, 2, 3 }));
		assertThat(open()).hasSize(1);
		file.closeChannel();
		assertThat(open()).isEmpty();
		ByteBuffer read = ByteBuffer.allocate(3);
		file.readAt(0, read);
		assertThat(read.array()).containsExactly(1, 2, 3);
		assertThat(open()).isEmpty();
		file.truncate(2);
		assertThat(open()).isEmpty();
		file.writeAt(2, ByteBuffer.wrap(new byte[] { 4 }));
		file.readAt(0, read.clear());
		assertThat(read.array()).containsExactly(1, 2, 4);
		assertThat(open()).hasSize(1);
		file.close();
		assertThat(open()).isEmpty();
		spool.end();
	}

	/** The files of the spool that this process has open. */
	private List<Path> open() throws IOException {
		Path spool = this.temporary.resolve("spool").toRealPath();
		try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
			return descriptors.filter(Files::isSymbolicLink).flatMap((descriptor) -> {
				try {
					return Stream.of(Files.readSymbolicLink(descriptor));
				}
				catch (IOException ex) {
					return Stream.empty();
				}
			}).filter((target) -> target.startsWith(spool) && !target.toString().endsWith(".lock")).toList();
		}
	}

	@Test
	void aRemovedFolderIsMadeAgain() throws IOException {
		Spool spool = spool(100);
		SpoolFile lost = spool.create("a", null);
		write(lost, 10);
		FileSystemUtils.deleteRecursively(this.temporary.resolve("spool"));
		SpoolFile next = spool.create("b", null);
		write(next, 20);
		try (InputStream bytes = next.open()) {
			assertThat(bytes.readAllBytes()).hasSize(20);
		}
		assertThatExceptionOfType(SpoolException.class).isThrownBy(() -> lost.open().readAllBytes());
		lost.close();
		next.close();
		assertThat(spool.used()).isZero();
		spool.end();
		assertThat(folders()).isEmpty();
	}

	@Test
	@EnabledOnOs(OS.LINUX)
	void aFullDiskRemovesRemovableFiles() throws IOException {
		Spool spool = spool(100);
		for (boolean anywhere : List.of(false, true)) {
			Path full = Files.createSymbolicLink(this.temporary.resolve("full"), Path.of("/dev/full"));
			AtomicInteger removed = new AtomicInteger();
			spool.allowRemoval(removed::incrementAndGet);
			spool.allowRemoval(() -> removed.addAndGet(10));
			try (SpoolFile file = new SpoolFile(spool, full, null, 0)) {
				assertThatExceptionOfType(SpoolException.class).isThrownBy(() -> {
					if (anywhere) {
						file.writeAt(0, ByteBuffer.allocate(10));
					}
					else {
						write(file, 10);
					}
				}).withMessageContaining("its disk is full");
			}
			assertThat(removed).hasValue(11);
		}
		assertThat(spool.used()).isZero();
		spool.end();
	}

	@Test
	void onlyTheServicesUserMayReadTheFiles() throws IOException {
		Spool spool = spool(100);
		for (Path folder : List.of(this.temporary.resolve("spool"), folders().get(0))) {
			assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder))).isEqualTo("rwx------");
		}
		spool.end();
	}

	@Test
	void oneProcessTakesOverTheFolderOfADeadProcessOnly() throws IOException {
		Spool living = spool(100);
		write(living.create("living.body", null), 10);
		Path left = left("01a20347-d60e-7396-9c73-7157c8413711", REDIS.name());
		Path lock = Files.createFile(this.temporary.resolve("spool/01a20347-d60e-7396-9c73-7157c8413712.lock"));
		Path foreign = Files.createDirectory(this.temporary.resolve("spool/foreign"));
		List<CompletableFuture<Spool>> starts = Stream.generate(() -> OwnThread.supply(() -> spool(100)))
			.limit(5)
			.toList();
		List<SpoolFile> found = new ArrayList<>();
		for (CompletableFuture<Spool> start : starts) {
			Spool next = start.join();
			List<SpoolFile> files = next.takeFound();
			assertThat(next.used()).isEqualTo(10L * files.size());
			assertThat(next.takeFound()).isEmpty();
			found.addAll(files);
		}
		assertThat(found).singleElement().extracting(SpoolFile::name).isEqualTo("left.body");
		try (InputStream bytes = found.get(0).open()) {
			assertThat(bytes.readAllBytes()).hasSize(10);
		}
		assertThat(left).doesNotExist();
		assertThat(lock).doesNotExist();
		assertThat(foreign).exists();
		living.end();
		starts.forEach((start) -> start.join().end());
		assertThat(folders()).containsExactly(foreign);
	}

	@Test
	void aFolderOfWhichAFileCannotBeMovedIsLeftWhole() throws IOException {
		Spool living = spool(1000);
		write(living.create("left.job", null), 10);
		Path left = left("01a20347-d60e-7396-9c73-7157c8413711", REDIS.name());
		Files.write(left.resolve("left.job"), new byte[20]);
		assertThat(living.takeOver()).isEmpty();
		assertThat(left.resolve("left.body")).hasSize(10);
		assertThat(left.resolve("left.job")).hasSize(20);
		assertThat(living.used()).isEqualTo(10);
		living.end();
	}

	@Test
	void aFolderWithoutRoomIsLeftToAnotherProcess() throws IOException {
		Spool living = spool(15);
		write(living.create("own.body", null), 10);
		Path left = left("01a20347-d60e-7396-9c73-7157c8413711", REDIS.name());
		assertThat(living.takeOver()).isEmpty();
		assertThat(left.resolve("left.body")).hasSize(10);
		living.end();
	}

	@Test
	void aFolderWithoutItsLockFileIsLeftAlone() throws IOException {
		Path left = left("01a20347-d60e-7396-9c73-7157c8413711", null);
		Spool next = spool(100);
		assertThat(next.takeFound()).isEmpty();
		assertThat(left.resolve("left.body")).exists();
		next.end();
	}

	/** An older version did not name its Redis. */
	@ParameterizedTest
	@ValueSource(strings = { "", "localhost:6379/1", "localhost:63790/0", "127.0.0.1:6379/0" })
	void aFolderOfAnotherRedisIsLeftAloneAndDoesNotCount(String redis) throws IOException {
		Path left = left("01a20347-d60e-7396-9c73-7157c8413711", redis);
		Path lock = this.temporary.resolve("spool/01a20347-d60e-7396-9c73-7157c8413711.lock");
		Spool next = spool(100);
		assertThat(next.takeFound()).isEmpty();
		assertThat(next.used()).isZero();
		next.end();
		assertThat(left.resolve("left.body")).hasSize(10);
		assertThat(lock).hasContent(redis);
		// As the line in the log says.
		Files.writeString(lock, REDIS.name() + "\n");
		Spool own = spool(100);
		assertThat(own.takeFound()).singleElement().extracting(SpoolFile::name).isEqualTo("left.body");
		assertThat(own.used()).isEqualTo(10);
		own.end();
		assertThat(left).doesNotExist();
	}

	/** Nothing is lost, and a development server has another port at each start. */
	@Test
	void anEmptyFolderOfAnotherRedisIsRemoved() throws IOException {
		Path left = left("01a20347-d60e-7396-9c73-7157c8413711", "127.0.0.1:40000/0");
		Files.delete(left.resolve("left.body"));
		Spool next = spool(100);
		assertThat(left).doesNotExist();
		next.end();
	}

	@Test
	void filesOfJobsThatHaveNotEndedStayForTheNextProcess() throws IOException {
		Spool spool = spool(100);
		for (String name : List.of("a.body", "a.job", "b.body")) {
			write(spool.create(name, null), 10);
		}
		spool.end();
		try (Stream<Path> files = Files.list(folders().get(0))) {
			assertThat(files.map((file) -> file.getFileName().toString())).containsExactlyInAnyOrder("a.body", "a.job");
		}
	}

	private Path left(String name, @Nullable String redis) throws IOException {
		Path base = Files.createDirectories(this.temporary.resolve("spool"));
		if (redis != null) {
			Files.writeString(base.resolve(name + ".lock"), redis);
		}
		Path folder = Files.createDirectory(base.resolve(name));
		Files.write(folder.resolve("left.body"), new byte[10]);
		return folder;
	}

	@Test
	void makingAFolderIsTriedAgain() throws IOException {
		Path file = Files.createFile(this.temporary.resolve("spool"));
		Spool spool = spool(100);
		assertThatExceptionOfType(SpoolException.class).isThrownBy(() -> spool.create("a", null))
			.withMessageContaining("pipeset.spool.directory")
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain(this.temporary.toString()));
		assertThat(spool.used()).isZero();
		Files.delete(file);
		write(spool.create("a", null), 10);
		spool.end();
	}

	@Test
	void writingToARemovedFolderFails() throws IOException {
		Spool spool = spool(100);
		try (SpoolFile file = spool.create("a", null)) {
			Files.delete(folders().get(0));
			assertThatExceptionOfType(SpoolException.class).isThrownBy(file::write);
		}
		assertThat(spool.used()).isZero();
		spool.end();
	}

	@Test
	void aBoundBelowZeroIsRefusedByName() {
		assertThatIllegalArgumentException().isThrownBy(() -> new SpoolProperties(null, DataSize.ofBytes(-1)))
			.withMessageContaining("pipeset.spool.max-bytes");
	}

	private Spool spool(long maxBytes) {
		Spool spool = new Spool(new SpoolProperties(this.temporary.resolve("spool"), DataSize.ofBytes(maxBytes)), REDIS,
				new SimpleMeterRegistry());
		spool.start();
		return spool;
	}

	private static void write(SpoolFile file, int bytes) throws IOException {
		byte[] written = new byte[bytes];
		Arrays.fill(written, (byte) 7);
		try (OutputStream out = file.write()) {
			out.write(written);
		}
	}

	private List<Path> folders() throws IOException {
		try (Stream<Path> all = Files.list(this.temporary.resolve("spool"))) {
			return all.filter(Files::isDirectory).sorted().toList();
		}
	}

	/** A removable file of a client. */
	private static final class RemovableFile implements Spool.Removable {

		private final SpoolFile file;

		private boolean removed;

		private RemovableFile(Spool spool, Spool.Share share) throws IOException {
			this.file = spool.create("of-" + share.client(), share);
			spool.allowRemoval(this);
		}

		@Override
		public String client() {
			return String.valueOf(this.file.client());
		}

		@Override
		public void close() {
			this.removed = true;
			this.file.close();
		}

	}

}
