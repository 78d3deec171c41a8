package io.pipeset.benchmark.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The costs of a process by the operating system's account; NaN if it does not tell. */
public final class ProcessStats {

	private static final double TICKS_PER_SECOND = 100;

	/**
	 * The place of the user time among the fields after the command's name, the first of
	 * which is the third of all.
	 */
	private static final int USER_TICKS = 11;

	private static final int WAITED_CHILDREN_TICKS = 13;

	private ProcessStats() {
	}

	/**
	 * The CPU time of a process.
	 * @param pid its id
	 * @return seconds, user and system
	 */
	public static double cpuSeconds(long pid) {
		return ProcessHandle.of(pid)
			.flatMap((handle) -> handle.info().totalCpuDuration())
			.map(Duration::toNanos)
			.map((nanos) -> nanos / 1e9)
			.orElse(Double.NaN);
	}

	/**
	 * The CPU time of this process, and of the processes that it has started and whose
	 * end it has seen.
	 * @return seconds, user and system
	 */
	public static double ownCpuSeconds() {
		try {
			String stat = Files.readString(Path.of("/proc/self/stat"));
			List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).strip().split(" "));
			double ticks = 0;
			for (int i = 0; i < 2; i++) {
				ticks += Long.parseLong(fields.get(USER_TICKS + i));
				ticks += Long.parseLong(fields.get(WAITED_CHILDREN_TICKS + i));
			}
			return ticks / TICKS_PER_SECOND;
		}
		catch (IOException ex) {
			return Double.NaN;
		}
	}

	/**
	 * Forgets the peak of a process's memory so far. If the kernel cannot, the peak
	 * remains that since the start of the process.
	 * @param pid its id
	 * @return whether the peak is forgotten
	 */
	public static boolean resetPeakRss(long pid) {
		try {
			Files.writeString(Path.of("/proc", String.valueOf(pid), "clear_refs"), "5");
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	/**
	 * The most memory that a process had resident.
	 * @param pid its id
	 * @return megabytes
	 */
	public static double peakRssMegabytes(long pid) {
		try {
			return Files.readAllLines(Path.of("/proc", String.valueOf(pid), "status"))
				.stream()
				.filter((line) -> line.startsWith("VmHWM:"))
				.mapToDouble((line) -> Long.parseLong(line.replaceAll("\\D", "")) / 1024.0)
				.findFirst()
				.orElse(Double.NaN);
		}
		catch (IOException ex) {
			return Double.NaN;
		}
	}

}
