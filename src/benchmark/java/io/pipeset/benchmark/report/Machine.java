package io.pipeset.benchmark.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The machine of the run. */
public final class Machine {

	private Machine() {
	}

	/**
	 * Describes the machine.
	 * @return a table of two columns
	 */
	public static Table describe() {
		Table table = new Table("Machine", "", "");
		table.add("CPU", cpu());
		table.add("cores", String.valueOf(Runtime.getRuntime().availableProcessors()));
		table.add("memory", memory());
		table.add("system", value("/etc/os-release", "PRETTY_NAME=", System.getProperty("os.name")));
		table.add("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version").split("-", 2)[0]
				+ " " + System.getProperty("os.arch"));
		return table;
	}

	/**
	 * The processor of the machine.
	 * @return the model's name
	 */
	public static String cpu() {
		return value("/proc/cpuinfo", "model name", System.getProperty("os.arch")).replaceFirst("^\\s*:\\s*", "");
	}

	private static String memory() {
		String kilobytes = value("/proc/meminfo", "MemTotal:", "").replaceAll("\\D", "");
		return (kilobytes.isEmpty()) ? "?" : Math.round(Long.parseLong(kilobytes) / 1048576.0) + " GB";
	}

	private static String value(String file, String name, String otherwise) {
		try {
			return Files.readAllLines(Path.of(file))
				.stream()
				.filter((line) -> line.startsWith(name))
				.findFirst()
				.map((line) -> line.substring(name.length()).replace("\"", "").strip())
				.orElse(otherwise);
		}
		catch (IOException ex) {
			return otherwise;
		}
	}

}
