package io.pipeset.memory;

import java.lang.management.ManagementFactory;

import com.sun.management.HotSpotDiagnosticMXBean;
import org.jspecify.annotations.Nullable;

import org.springframework.util.unit.DataSize;

/**
 * The limits of the parts into which the memory budget is divided.
 *
 * @param budget the bytes that all jobs together may hold
 * @param base the bytes that each running job has to itself
 * @param shared the bytes that jobs may take beyond their base; each job at most as much
 * as it leaves to others
 * @param exclusive the bytes that one job at a time may take beyond its base
 */
public record MemoryLimits(long budget, long base, long shared, long exclusive) {

	/** The heap that the service needs without jobs. */
	private static final long SERVICE_BYTES = 48L << 20;

	private static final long MIN_BYTES = 8L << 20;

	private static final long MAX_BASE_BYTES = 256L << 10;

	/** Enough for some small slabs. */
	private static final long MIN_BASE_BYTES = 32L << 10;

	/**
	 * Divides the memory.
	 * @param configured the budget; {@code null} to derive it
	 * @param jobs how many jobs may run at once
	 * @param heap the maximum heap size, in bytes
	 * @param direct the maximum direct memory, in bytes
	 * @throws UnfitMemoryException if the budget does not fit the memory, or the jobs do
	 * not fit the budget
	 */
	static MemoryLimits of(@Nullable DataSize configured, int jobs, long heap, long direct) {
		long most = Math.min(heap * 3 / 4, direct);
		long budget = (configured != null) ? configured.toBytes()
				: Math.max(MIN_BYTES, Math.min((heap - SERVICE_BYTES) * 9 / 20, direct * 9 / 10));
		if (budget < MIN_BYTES || budget > most) {
			throw new UnfitMemoryException(
					"pipeset.memory.budget must be from " + MIN_BYTES + " to " + most
							+ " bytes, three quarters of the heap of " + heap
							+ " and no more than the direct memory of " + direct + ", not " + budget + ".",
					"Leave it out, so that it is derived from the heap, or change -Xmx and -XX:MaxDirectMemorySize.");
		}
		long base = Math.min(MAX_BASE_BYTES, budget / 2 / jobs);
		if (base < MIN_BASE_BYTES) {
			throw new UnfitMemoryException(
					"pipeset.limits.max-running-jobs=" + jobs + " needs a budget of " + 2L * jobs * MIN_BASE_BYTES
							+ " bytes, and pipeset.memory.budget is " + budget + ".",
					"Lower max-running-jobs, or raise -Xmx, from which the budget is derived.");
		}
		long rest = budget - jobs * base;
		return new MemoryLimits(budget, base, rest * 2 / 5, rest * 3 / 5);
	}

	/** The maximum heap size of this process, in bytes. */
	static long heap() {
		return Runtime.getRuntime().maxMemory();
	}

	/** The maximum direct memory of this process, in bytes. */
	static long direct() {
		long configured = Long.parseLong(ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
			.getVMOption("MaxDirectMemorySize")
			.getValue());
		return (configured > 0) ? configured : heap();
	}

	/**
	 * The most bytes that one job may hold.
	 * @return bytes
	 */
	public long mostOfOneJob() {
		return this.base + this.exclusive;
	}

}
