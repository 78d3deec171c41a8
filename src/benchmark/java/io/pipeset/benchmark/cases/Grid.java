package io.pipeset.benchmark.cases;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.benchmark.process.BenchmarkException;

/**
 * The values of each setting to be tried with each of the others. On the command line it
 * reads {@code window=8000/2MB;batchSize=1000,10000;rtt=5}; a setting that is not named
 * keeps its list.
 */
public final class Grid {

	private final Map<String, List<String>> values = new LinkedHashMap<>();

	/**
	 * Reads the differences from the usual grid.
	 * @param text as on the command line, or empty
	 */
	public Grid(String text) {
		this.values.put("window", List.of("2000/512KB", "8000/2MB", "64000/16MB"));
		this.values.put("value", List.of("13", "1024", "102400"));
		this.values.put("rtt", List.of("0", "5", "50"));
		this.values.put("batchSize", List.of("1000", "10000", "100000"));
		this.values.put("flush", List.of("buffered:100", "buffered:500", "buffered:2000"));
		this.values.put("concurrency", List.of("1", "4"));
		this.values.put("coalesce", Bench.COALESCE);
		for (String setting : text.split(";", -1)) {
			String[] parts = setting.strip().split("=", 2);
			if (parts.length == 2) {
				if (this.values.put(parts[0], List.of(parts[1].split(",", -1))) == null) {
					throw new BenchmarkException("The grid has no " + parts[0] + ", but " + this.values.keySet());
				}
			}
			else if (!parts[0].isEmpty()) {
				throw new BenchmarkException("The grid does not understand " + setting);
			}
		}
	}

	List<String> windows() {
		return get("window");
	}

	List<Integer> valueBytes() {
		return get("value").stream().map(Integer::valueOf).toList();
	}

	List<Integer> roundTrips() {
		return get("rtt").stream().map(Integer::valueOf).toList();
	}

	/** The settings that a request can name, as its query strings. */
	List<String> queries() {
		List<String> queries = new ArrayList<>();
		for (String batchSize : get("batchSize")) {
			for (String flush : get("flush")) {
				for (String concurrency : get("concurrency")) {
					for (String coalesce : get("coalesce")) {
						queries.add("batchSize=" + batchSize + "&flush=" + flush + "&concurrency=" + concurrency
								+ "&coalesce=" + coalesce);
					}
				}
			}
		}
		return queries;
	}

	private List<String> get(String setting) {
		return this.values.getOrDefault(setting, List.of());
	}

}
