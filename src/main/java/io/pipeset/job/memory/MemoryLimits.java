package io.pipeset.job.memory;

import java.lang.management.ManagementFactory;

import com.sun.management.HotSpotDiagnosticMXBean;
import org.jspecify.annotations.Nullable;

import org.springframework.util.unit.DataSize;

/**
 * The parts into which the service's memory is divided.
 *
 * @param budget the bytes that all jobs together may hold
 * @param base the bytes that each running job has for itself
 * @param shared the bytes that jobs may take beyond their base, no job more than it
 * leaves to others
 * @param exclusive the bytes that a single job at a time may take beyond its base
 */
public record MemoryLimits(long budget, long base, long shared, long exclusive) {

	/** The heap that the service takes before the first job. */
	private static final long SERVICE_BYTES = 48L << 20;

	private static final long LEAST_BYTES = 8L << 20;

	private static final long MOST_BASE_BYTES = 256L << 10;

	/** Room for some small slabs. */
	private static final long LEAST_BASE_BYTES = 32L << 10;

	/**
	 * Divides the memory.
	 * @param configured the budget, or {@code null} to derive it
	 * @param heap the largest heap, in bytes
	 * @param direct the most direct memory, in bytes
	 * @throws UnfitMemoryException if it does not suffice
	 */
	static MemoryLimits of(@Nullable DataSize configured, int jobs, long heap, long direct) {
		long most = Math.min(heap * 3 / 4, direct);
		long budget = (configured != null) ? configured.toBytes()
				: Math.max(LEAST_BYTES, Math.min((heap - SERVICE_BYTES) * 9 / 20, direct * 9 / 10));
		if (budget < LEAST_BYTES || budget > most) {
			throw new UnfitMemoryException(
					"pipeset.memory.budget must be from " + LEAST_BYTES + " to " + most
							+ " bytes, three quarters of the heap of " + heap
							+ " and no more than the direct memory of " + direct + ", not " + budget + ".",
					"Leave it out, so that it is derived, or change -Xmx and -XX:MaxDirectMemorySize.");
		}
		long base = Math.min(MOST_BASE_BYTES, budget / 2 / jobs);
		if (base < LEAST_BASE_BYTES) {
			throw new UnfitMemoryException(
					"pipeset.limits.max-running-jobs=" + jobs + " needs a budget of " + 2L * jobs * LEAST_BASE_BYTES
							+ " bytes, and pipeset.memory.budget is " + budget + ".",
					"Lower the first, or raise -Xmx, from which the second is derived.");
		}
		long rest = budget - jobs * base;
		return new MemoryLimits(budget, base, rest * 2 / 5, rest * 3 / 5);
	}

	/** The largest heap of this process. */
	static long heap() {
		return Runtime.getRuntime().maxMemory();
	}

	/** The most direct memory of this process. */
	static long direct() {
		long configured = Long.parseLong(ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
			.getVMOption("MaxDirectMemorySize")
			.getValue());
		return (configured > 0) ? configured : heap();
	}

	/**
	 * The most that one job may hold.
	 * @return how much, in bytes
	 */
	public long mostOfOneJob() {
		return this.base + this.exclusive;
	}

}
