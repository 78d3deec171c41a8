package io.pipeset.web.fault;

import java.util.Map;
import java.util.TreeMap;

import io.pipeset.web.fault.OnceRecords.OnceCounts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What each loader made of each kind of fault, summed over all seeds. */
final class OnceTable {

	private static final Logger logger = LoggerFactory.getLogger(OnceTable.class);

	private static final String ROW = "| %-14s | %-22s | %6s | %6s | %8s | %7s | %7s | %12s | %7s | %7s |%n";

	private final Map<String, long[]> rows = new TreeMap<>();

	/**
	 * Adds a load.
	 * @param faults how many faults struck it
	 * @param unprocessed how many records are told not to have run
	 */
	synchronized void add(String kind, String loader, int faults, OnceCounts counts, long unknown, long unprocessed) {
		long[] sums = this.rows.computeIfAbsent(kind + '\n' + loader, (row) -> new long[8]);
		long[] further = { 1, faults, counts.records(), counts.lost(), counts.doubled(), counts.disordered(), unknown,
				unprocessed };
		for (int i = 0; i < sums.length; i++) {
			sums[i] += further[i];
		}
	}

	void print() {
		logger.info("What became of the records:\n{}", this);
	}

	@Override
	public synchronized String toString() {
		StringBuilder text = new StringBuilder(ROW.formatted("fault", "loader", "loads", "faults", "records", "lost",
				"doubled", "out of order", "unknown", "not run"));
		this.rows.forEach((row, sums) -> {
			Object[] cells = new Object[sums.length + 2];
			System.arraycopy(row.split("\n"), 0, cells, 0, 2);
			for (int i = 0; i < sums.length; i++) {
				cells[i + 2] = sums[i];
			}
			text.append(ROW.formatted(cells));
		});
		return text.toString();
	}

}
